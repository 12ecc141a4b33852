//! Work that goes on after a panic.

use std::{
    any::Any,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
    time::Duration,
};

/// Time between a panic and the next attempt, so that one whose cause stays takes no processor.
const PAUSE: Duration = Duration::from_millis(10);

/// Does some work again and again until it is over. A panic ends the round in which it came and is told; the next round follows.
///
/// For threads of which there is one for all clients: if the thread that closes files ended, no file of any client would be closed
/// any more. State stays usable: locks are given up while the stack unwinds, and each round starts from what the host reports.
pub(crate) fn keep_on(what: &str, mut round: impl FnMut() -> ControlFlow<()>, say: impl Fn(&str)) {
    loop {
        match catch_unwind(AssertUnwindSafe(&mut round)) {
            Ok(ControlFlow::Break(())) => return,
            Ok(ControlFlow::Continue(())) => {}
            Err(panic) => {
                say(&format!("a defect in {what}, which goes on: {}", text_of(&*panic)));
                thread::sleep(PAUSE);
            }
        }
    }
}

/// Returns the message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn a_panic_ends_one_round_and_is_told() {
        let (mut rounds, said) = (0, RefCell::new(Vec::new()));
        let round = || {
            rounds += 1;
            match rounds {
                1 => panic!("number {rounds}"),
                2 => ControlFlow::Continue(()),
                3 => panic!("a constant"),
                _ => ControlFlow::Break(()),
            }
        };
        keep_on("a test", round, |what| said.borrow_mut().push(what.to_owned()));
        let expected = ["number 1", "a constant"].map(|text| format!("a defect in a test, which goes on: {text}"));
        assert_eq!((rounds, said.into_inner()), (4, expected.to_vec()));
    }
}
