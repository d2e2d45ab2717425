//! File names as words of a shell line. Whoever named the file may have wanted it to be a command.
