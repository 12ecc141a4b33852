//! A driver's life on a kernel that lies.

use amdgpu_fuzz::reach::Reach;

static ANY: Reach =
    Reach::new("lying_kernel::nothing_that_a_lying_kernel_answers_makes_the_library_touch_what_is_not_its_own");

#[test]
fn nothing_that_a_lying_kernel_answers_makes_the_library_touch_what_is_not_its_own() {
    bolero::check!().with_type::<(Vec<u8>, Vec<u8>)>().with_iterations(300).for_each(|(lies, life)| {
        let violations = amdgpu_fuzz::lying::live(lies, life);
        assert!(violations.is_empty(), "{violations:#?}");
        ANY.count(!lies.is_empty() && life.len() > 1);
    });
    ANY.report();
}

/// Long lives with many lies, from a small generator, so that a run without coverage goes deep.
#[test]
fn long_lives_with_many_lies_end_well() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as u8
    };
    for _ in 0..40 {
        let lies: Vec<u8> = (0..600).map(|_| next()).collect();
        let life: Vec<u8> = (0..300).map(|_| next()).collect();
        let violations = amdgpu_fuzz::lying::live(&lies, &life);
        assert!(violations.is_empty(), "{violations:#?}");
    }
}
