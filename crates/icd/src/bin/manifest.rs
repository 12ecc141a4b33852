//! Prints the manifest with which the Vulkan loader finds the driver. `VK_DRIVER_FILES` must name a file with this text.

use std::{env, path::PathBuf, process::ExitCode};

/// The file name of the driver's shared object.
const LIBRARY: &str = "libvulkan_amdgpu_winsys.so";

fn main() -> ExitCode {
    let beside = || Some(env::current_exe().ok()?.parent()?.join(LIBRARY));
    let Some(library) = env::args_os().nth(1).map(PathBuf::from).or_else(beside) else {
        eprintln!("usage: amdgpu-winsys-icd-manifest [LIBRARY]");
        return ExitCode::from(2);
    };
    let path: String = library.display().to_string().chars().flat_map(char::escape_default).collect();
    println!(r#"{{"file_format_version": "1.0.1", "ICD": {{"library_path": "{path}", "api_version": "1.3.281"}}}}"#);
    ExitCode::SUCCESS
}
