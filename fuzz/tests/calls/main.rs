//! Calls of a program in C, in any order.

use amdgpu_fuzz::{calls, reach::Reach};

static REACH: Reach = Reach::new(if cfg!(feature = "checked") {
    "calls::any_calls_are_answered_and_leave_nothing+checked"
} else {
    "calls::any_calls_are_answered_and_leave_nothing"
});

#[test]
fn any_calls_are_answered_and_leave_nothing() {
    bolero::check!().with_type::<Vec<calls::Step>>().with_iterations(500).for_each(|steps| {
        REACH.count(calls::live(steps).successes > 4);
    });
    REACH.report();
}

/// Long lives from a small generator, so that a run without coverage goes deep, and wrong handles come.
#[test]
fn long_lives_call_with_wrong_handles_and_end_well() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed.to_le_bytes()
    };
    let (mut successes, mut wrong, mut found, mut video) = (0, 0, 0, 0);
    for _ in 0..300 {
        let steps: Vec<calls::Step> = (0..48)
            .map(|_| {
                let [function, a, b, c, ..] = next();
                (function, a, b, c)
            })
            .collect();
        let lived = calls::live(&steps);
        successes += lived.successes;
        wrong += lived.wrong;
        found += lived.found;
        video += lived.video;
    }
    println!(
        "{successes} calls succeeded, {wrong} had a wrong handle, {found} words were found, {video} IBs of video engines"
    );
    assert!(successes > 3000 && wrong > 500 && found > 100 && video > 200);
}
