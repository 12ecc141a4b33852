//! Draws on several threads: bands of rows of the targets, each of which one thread draws from the first primitive to the last.
//!
//! The pixels of a place are drawn in the order of primitives, as on one thread, and bands do not depend on the number of threads. A band has
//! waves of its own.

use std::{
    panic,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use crate::{
    DrawState, Rectangle,
    execute::{
        cover::shapes::Shape,
        interface::{Ended, Memory, MemoryFault, Shaders},
        shade::pixels::{Pixels, Prepared},
        target::targets::RESOLVE,
    },
};

/// The number of rows of a band: whole blocks of all metadata.
const ROWS: i32 = 32;

/// The number of pixels that are worth more threads: they take about a millisecond, and starting a thread tens of microseconds.
const WORTH: u64 = 1 << 14;

/// The number of pixels and of primitives after which those that were collected are drawn.
const MOST_PIXELS: u64 = 1 << 22;
const MOST_PRIMITIVES: usize = 1 << 12;

/// The other threads of a draw, and the primitives that wait for them.
pub(in crate::execute) struct Crew<'c, 's> {
    memory: &'c (dyn Memory + Sync),
    others: &'c mut [Box<dyn Shaders + Send + 's>],
    waiting: Vec<Prepared>,
    pixels: u64,
}

/// The first band that could not be drawn or had a fault, of one thread.
#[derive(Default)]
struct Trouble {
    ended: Option<(usize, Ended)>,
    fault: Option<(usize, MemoryFault)>,
}

/// The bands that are drawn together.
struct Bands<'b> {
    primitives: &'b [Prepared],
    first: i32,
    count: usize,
    next: AtomicUsize,
    has_ended: AtomicBool,
}

/// Returns `true` if the pixels of a draw may be drawn on several threads with the result of one.
pub(in crate::execute) fn are_apart(state: &DrawState, pixels: &Pixels<'_>) -> bool {
    // What shaders write to memory comes in the order of one thread.
    !state.depth.runs_anyway && state.operation.mode != RESOLVE && pixels.targets.have_rows_alone()
}

impl<'c, 's> Crew<'c, 's> {
    pub(in crate::execute) const fn new(
        memory: &'c (dyn Memory + Sync),
        others: &'c mut [Box<dyn Shaders + Send + 's>],
    ) -> Self {
        Self { memory, others, waiting: Vec::new(), pixels: 0 }
    }

    /// Adds a primitive, and draws those that wait if they are many.
    pub(in crate::execute) fn add(
        &mut self,
        primitive: Prepared,
        pixels: &mut Pixels<'_>,
        shaders: &mut dyn Shaders,
    ) -> Result<(), Ended> {
        self.pixels += primitive.shapes.iter().map(|(shape, _)| size(shape, &primitive.bounds)).sum::<u64>();
        self.waiting.push(primitive);
        if self.pixels < MOST_PIXELS && self.waiting.len() < MOST_PRIMITIVES {
            return Ok(());
        }
        self.draw(pixels, shaders)
    }

    /// Draws the primitives that wait.
    pub(in crate::execute) fn draw(&mut self, pixels: &mut Pixels<'_>, shaders: &mut dyn Shaders) -> Result<(), Ended> {
        let primitives = std::mem::take(&mut self.waiting);
        if std::mem::take(&mut self.pixels) < WORTH {
            return primitives.iter().try_for_each(|primitive| pixels.paint(primitive, None, shaders));
        }
        // Quads of earlier primitives come first.
        pixels.flush(shaders)?;
        let rows = |of: fn(&Rectangle) -> i32| primitives.iter().map(move |primitive| of(&primitive.bounds));
        let first = rows(|bounds| bounds.first[1]).min().unwrap_or(0).div_euclid(ROWS);
        let end = rows(|bounds| bounds.end[1]).max().unwrap_or(0).div_euclid(ROWS) + 1;
        let bands = Bands {
            primitives: &primitives,
            first,
            count: usize::try_from(end - first).unwrap_or(0),
            next: AtomicUsize::new(0),
            has_ended: AtomicBool::new(false),
        };
        let (state, targets, memory) = (pixels.state, pixels.targets.clone(), self.memory);
        let mut troubles = Vec::new();
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for (number, other) in self.others.iter_mut().enumerate() {
                let (bands, targets) = (&bands, targets.clone());
                let work = move || {
                    let mut own = Pixels::new(state, targets, memory);
                    (bands.draw(&mut own, other.as_mut()), own.drawn)
                };
                // Without a thread, the others draw its bands.
                let Ok(thread) =
                    thread::Builder::new().name(format!("pixels {}", number + 1)).spawn_scoped(scope, work)
                else {
                    break;
                };
                threads.push(thread);
            }
            troubles.push(bands.draw(pixels, shaders));
            for thread in threads {
                let (trouble, drawn) = thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload));
                troubles.push(trouble);
                pixels.drawn.pixel_waves += drawn.pixel_waves;
                pixels.drawn.pixel_invocations += drawn.pixel_invocations;
                pixels.drawn.passed += drawn.passed;
            }
        });
        let fault = troubles.iter().filter_map(|trouble| trouble.fault).min_by_key(|(band, _)| *band);
        pixels.drawn.fault = pixels.drawn.fault.or(fault.map(|(_, fault)| fault));
        let ended = troubles.iter_mut().filter_map(|trouble| trouble.ended.take()).min_by_key(|(band, _)| *band);
        ended.map_or(Ok(()), |(_, ended)| Err(ended))
    }
}

impl Bands<'_> {
    /// Draws bands until none are left or one has ended the draw.
    fn draw(&self, pixels: &mut Pixels<'_>, shaders: &mut dyn Shaders) -> Trouble {
        let mut trouble = Trouble::default();
        let before = pixels.drawn.fault.take();
        // Bands are taken in their order, so that the first one that ends the draw is always drawn.
        while !self.has_ended.load(Ordering::Relaxed) {
            let band = self.next.fetch_add(1, Ordering::Relaxed);
            if band >= self.count {
                break;
            }
            let top = (self.first + band as i32) * ROWS;
            let inside = Rectangle { first: [i32::MIN, top], end: [i32::MAX, top + ROWS] };
            let drawn = self.primitives.iter().try_for_each(|one| pixels.paint(one, Some(&inside), shaders));
            let drawn = drawn.and_then(|()| pixels.flush(shaders)).and_then(|()| pixels.check());
            let fault = pixels.drawn.fault.or(pixels.access.fault);
            trouble.fault = trouble.fault.or(fault.map(|fault| (band, fault)));
            if let Err(ended) = drawn {
                self.has_ended.store(true, Ordering::Relaxed);
                trouble.ended = Some((band, ended));
                break;
            }
        }
        pixels.drawn.fault = before;
        trouble
    }
}

/// Returns about the number of pixels of a shape.
fn size(shape: &Shape, bounds: &Rectangle) -> u64 {
    let bounds = shape.bounds().and(bounds);
    if bounds.is_empty() {
        return 0;
    }
    let [width, height] = [0, 1].map(|axis: usize| u64::from(bounds.end[axis].abs_diff(bounds.first[axis])));
    width * height / 2
}
