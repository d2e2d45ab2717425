//! The words of a column's title.

/// Returns the words of a column's title, in lower case without accents. Units in brackets are separate words.
pub fn split_title(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_lower = false;
    let mut word = String::new();
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && is_lower) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        is_lower = letter.is_lowercase();
        if letter.is_alphanumeric() {
            for lower in letter.to_lowercase() {
                push_plain(lower, &mut word);
            }
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Appends a letter without its accents.
fn push_plain(letter: char, word: &mut String) {
    match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => word.push('a'),
        'ç' | 'ć' | 'č' => word.push('c'),
        'è' | 'é' | 'ê' | 'ë' | 'ę' => word.push('e'),
        'ì' | 'í' | 'î' | 'ï' => word.push('i'),
        'ñ' | 'ń' => word.push('n'),
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => word.push('o'),
        'ù' | 'ú' | 'û' | 'ü' => word.push('u'),
        'ś' | 'š' => word.push('s'),
        'ź' | 'ż' | 'ž' => word.push('z'),
        'ł' => word.push('l'),
        'ß' => word.push_str("ss"),
        _ => word.push(letter),
    }
}
