//! The functions that libdrm has since 2.4.125, on a kernel with user queues. What they print and ask is compared with what a run of
//! libdrm 2.4.134 printed and asked (`tests/golden`), because distributions have older ones.

mod support;

use std::{fs, path::Path, process::Command};

use support::{folder, missing, ours, output, recorder, shim};

#[test]
fn the_newer_functions_answer_and_ask_as_those_of_libdrm_2_4_134_did() {
    if !Path::new("/usr/include/libdrm/amdgpu.h").exists() {
        return missing("no headers of libdrm");
    }
    let folder = folder("newer");
    recorder(&folder);
    fs::copy(ours(), folder.join("libdrm_amdgpu.so.1")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/newer.c");
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I/usr/include/libdrm"];
    let program = folder.join("newer");
    output(Command::new("gcc").args(flags).arg(source).arg("-o").arg(&program).args(["-ldrm_amdgpu", "-ldl"]));
    let record = folder.join("record");
    let text = output(
        Command::new(&program)
            .env_remove("AMDGPU_SIM_WORLD")
            .env("AMDGPU_SIM", "navi31")
            .env("AMDGPU_SIM_KERNEL", "6.17")
            .env("AMDGPU_SIM_USER_QUEUES", "1")
            .env("AMDGPU_RECORD", &record)
            .env("LD_LIBRARY_PATH", &folder)
            .env("LD_PRELOAD", format!("{}:{}", folder.join("record.so").display(), shim().display())),
    );
    assert_eq!(text, include_str!("golden/newer.text"));
    let record = fs::read_to_string(record).unwrap();
    let requests: Vec<_> = record.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(requests, include_str!("golden/newer.requests").lines().collect::<Vec<_>>());
    fs::remove_dir_all(folder).unwrap();
}
