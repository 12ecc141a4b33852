//! Requests for modes, planes, framebuffers, blobs and events of several files of a GPU with a display.
//!
//! Ids mean something more often than not. Whatever the files do, from one thread or from two at once, another client can take
//! the display over and show a picture of its own, and nothing is left in the end.

mod client;
mod deeds;

use std::time::{Duration, Instant};

use amdgpu_fuzz::reach::Reach;
use amdgpu_sim::{SimDevice, SimOptions, profile};

use crate::{
    client::Hostile,
    deeds::{Deed, act},
};

static REACH: Reach = Reach::new("displays::any_requests_for_a_display_leave_it_to_the_next_client");

/// Longest time in which a client that took the display over sees its picture, far above the few vertical blanks that it takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Takes the display over from the others, and shows a picture.
fn takes_over(gpu: &SimDevice) {
    let next = Hostile::open(gpu, true);
    next.become_master();
    next.clear();
    let shown = next.show(0x12_34_56).expect("a mode that the display has");
    next.flip(shown, 1).expect("a flip to what is shown");
    let start = Instant::now();
    while next.kernel.read_event().is_none() {
        assert!(start.elapsed() < PATIENCE, "the picture does not come");
        std::thread::yield_now();
    }
    let picture = gpu.scanned_out().expect("a picture");
    assert_eq!(picture.rgba[..4], [0x12, 0x34, 0x56, 0xff]);
}

#[test]
fn any_requests_for_a_display_leave_it_to_the_next_client() {
    let chips = ["navi21", "renoir", "polaris10", "navi31"].map(|name| profile(name).expect("a chip"));
    bolero::check!()
        .with_type::<(u8, u8, Vec<Deed>)>()
        .with_iterations(100)
        .with_shrink_time(Duration::from_secs(1))
        .for_each(|(number, style, deeds)| {
            let options = SimOptions { display: Some("320x200".parse().expect("a display")), ..SimOptions::default() };
            let gpu = SimDevice::new(chips[usize::from(*number) % chips.len()], options);
            let files = [Hostile::open(&gpu, false), Hostile::open(&gpu, true), Hostile::render(&gpu)];
            files[0].show(0xff_ff_ff).expect("the first file is master");
            let deeds = &deeds[..deeds.len().min(24)];
            let run = |odd: Option<bool>| {
                let mine = deeds.iter().enumerate().filter(|(at, _)| odd.is_none_or(|odd| odd == (at % 2 == 1)));
                mine.fold(false, |granted, (_, deed)| act(&gpu, &files, deed) | granted)
            };
            let granted = if style.is_multiple_of(4) {
                std::thread::scope(|scope| {
                    let other = scope.spawn(|| run(Some(true)));
                    run(Some(false)) | other.join().expect("no panic")
                })
            } else {
                run(None)
            };
            // Timelines end with their client, and with them what waited.
            files.iter().for_each(Hostile::close_timelines);
            files.iter().for_each(Hostile::drop_master);
            if style % 8 < 2 {
                takes_over(&gpu);
            }
            drop(files);
            assert_eq!((gpu.census().files, gpu.census().bos), (0, 0), "something is left");
            REACH.count(granted);
        });
    REACH.report();
}
