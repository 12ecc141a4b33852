//! Checks whether a model of so many bytes fits on a GPU, as a model loader would before it loads.
//!
//! usage: model_fits BYTES [ROOT]

use std::{env, path::Path, process::ExitCode};

use amdgpu_pool::{Options, Root, Verdict, look};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(bytes) = arguments.next().and_then(|text| text.parse().ok()) else {
        eprintln!("usage: model_fits BYTES [ROOT]");
        return ExitCode::from(64);
    };
    let machine = arguments.next().map_or_else(Root::live, |root| Root::at(Path::new(&root)));
    let report = match look(&machine, &Options::default()) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(69);
        }
    };
    let mut fits = false;
    for gpu in &report.gpus {
        let fit = gpu.fits(bytes);
        fits |= fit.verdict == Verdict::Fits;
        let available = gpu.effective.available.map_or("unknown".to_owned(), |bytes| bytes.to_string());
        println!("{} available {available} verdict {:?}: {}", gpu.pci, fit.verdict, fit.reason);
        for part in &fit.parts {
            println!("  {} {}", part.place, part.bytes);
        }
    }
    if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
