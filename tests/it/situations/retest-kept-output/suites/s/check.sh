make-that-is-not-here || exit 127
