//! Numbers as people read them: `12,345`.

/// What the longest number takes.
const LONGEST: usize = 26;

/// What a number takes with commas.
pub(crate) fn grouped_size(number: usize) -> usize {
    let more = number.checked_ilog10().unwrap_or(0) as usize;
    1 + more + more / 3
}

/// Write a number with commas into room for it.
pub(crate) fn write_grouped(mut number: usize, room: &mut [u8]) {
    for group in room.rchunks_mut(4) {
        let (rest, digits) = (number / 1_000, number % 1_000);
        let digits = [digits / 100, digits / 10 % 10, digits % 10].map(|digit| b'0' + digit.to_le_bytes()[0]);
        let [hundreds, tens, ones] = digits;
        let written = [b',', hundreds, tens, ones];
        group.copy_from_slice(written.get(4 - group.len()..).unwrap_or_default());
        number = rest;
    }
}

/// See a number with commas.
pub(crate) fn with_grouped<T>(number: usize, then: impl FnOnce(&[u8]) -> T) -> T {
    let mut room = [0; LONGEST];
    let text = room.get_mut(..grouped_size(number)).unwrap_or_default();
    write_grouped(number, text);
    then(text)
}

/// `12,345`
#[must_use]
pub(crate) fn grouped(number: usize) -> String {
    let mut text = String::with_capacity(LONGEST);
    push_grouped(&mut text, number);
    text
}

/// Add a number with commas to a text.
pub(crate) fn push_grouped(text: &mut String, number: usize) {
    with_grouped(number, |digits| text.extend(digits.iter().map(|byte| char::from(*byte))));
}

#[cfg(test)]
mod tests {
    use super::{grouped, grouped_size};

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0, 7, 80, 999, 1_000, 12_045, 1_000_000, 102_030_405, usize::MAX];
        let expected =
            ["0", "7", "80", "999", "1,000", "12,045", "1,000,000", "102,030,405", "18,446,744,073,709,551,615"];
        assert_eq!(numbers.map(grouped), expected);
        assert_eq!(numbers.map(grouped_size), expected.map(str::len));
    }
}
