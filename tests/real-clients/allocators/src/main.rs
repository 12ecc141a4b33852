//! Memory allocators that others wrote, on whatever Vulkan driver the loader finds: gpu-allocator, and VMA through vk-mem.
//!
//! Each check gets a device of its own. It fails too if the validation layer, where the environment loads it, has said anything.

#![expect(unsafe_code, reason = "commands of Vulkan")]

mod blocks;
mod rust_allocator;
mod vma;
mod world;

use std::{error::Error, process::ExitCode};

use world::World;

type Outcome = Result<String, Box<dyn Error>>;

/// A check: its name, and what does it.
type Check = (&'static str, fn(&World) -> Outcome);

fn main() -> ExitCode {
    let mut failed = 0;
    let all = [rust_allocator::CHECKS, vma::CHECKS, blocks::CHECKS].concat();
    for (name, check) in &all {
        let outcome = World::open().and_then(|world| {
            if name == &all[0].0 {
                println!("on {}", world.name);
            }
            let detail = check(&world)?;
            let messages = world.close();
            if messages.is_empty() { Ok(detail) } else { Err(messages.join("; ").into()) }
        });
        match outcome {
            Ok(detail) => println!("pass  {name:<28} {detail}"),
            Err(error) => {
                failed += 1;
                println!("fail  {name:<28} {error}");
            }
        }
    }
    println!("{} passed, {failed} failed", all.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
