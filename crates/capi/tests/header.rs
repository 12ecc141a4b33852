//! The header that is checked in is the one that cbindgen makes of the sources, and C and C++ compilers take it without a
//! word.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> PathBuf {
    folder().join("include/amdgpu_winsys.h")
}

/// Returns a folder for the files of a test.
fn scratch(name: &str) -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&scratch).unwrap();
    scratch
}

#[test]
fn the_header_is_that_of_the_sources() {
    let config = cbindgen::Config::from_file(folder().join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_crate(folder()).with_config(config).generate().unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = String::from_utf8(made).unwrap();
    if env::var_os("AGW_WRITE_HEADER").is_some() {
        fs::write(header(), &made).unwrap();
    }
    let there = fs::read_to_string(header()).unwrap_or_default();
    assert!(
        there == made,
        "AGW_WRITE_HEADER=1 cargo test -p amdgpu-winsys-c --test header brings the header up to date"
    );
}

/// Has a compiler look at a source, with all warnings as errors.
fn check(compiler: &str, standard: &str, end: &str, name: &str, text: &str) -> Result<(), String> {
    let source = scratch("header").join(format!("{name}-{standard}.{end}"));
    fs::write(&source, text).unwrap();
    let flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"];
    let output = Command::new(compiler)
        .arg(format!("-std={standard}"))
        .args(flags)
        .arg("-I")
        .arg(folder().join("include"))
        .arg(&source)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{compiler} {standard}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Compiles a program of nothing but the header.
fn compile(compiler: &str, standard: &str, end: &str) {
    let text = "#include \"amdgpu_winsys.h\"\nint main(void) { return agw_version() != AGW_VERSION_MINOR; }\n";
    check(compiler, standard, end, "header", text).unwrap();
}

/// Compiles a program of two parts that both include the header, as those of a driver with headers of its own do.
#[test]
fn the_header_may_be_included_twice() {
    let text =
        "#include \"amdgpu_winsys.h\"\n#include \"amdgpu_winsys.h\"\nint main(void) { return agw_bo_head(0) != 0; }\n";
    for (compiler, standard, end) in [("cc", "c99", "c"), ("cc", "c11", "c"), ("c++", "c++17", "cpp")] {
        check(compiler, standard, end, "twice", text).unwrap();
    }
}

#[test]
fn c99_c11_and_cpp17_take_the_header_without_a_warning() {
    for standard in ["c99", "c11"] {
        compile("cc", standard, "c");
    }
    compile("c++", "c++17", "cpp");
}

/// The names of fields and their offsets, of structures with their sizes.
type Layout = (&'static str, usize, Vec<(&'static str, usize)>);

/// Lists the layouts of structures, as Rust has them.
macro_rules! layouts {
    ($($structure:ident { $($field:ident),* $(,)? })*) => {
        vec![$((
            stringify!($structure),
            size_of::<$structure>(),
            vec![$((stringify!($field), std::mem::offset_of!($structure, $field))),*],
        )),*]
    };
}

fn layouts() -> Vec<Layout> {
    use amdgpu_winsys_c::{border::*, heaps::*, objects::*, recording::*};
    layouts! {
        agw_loss { struct_size, reserved, reason, blame, vram_lost, errno_value }
        agw_bo_head { va, size, handle, flags }
        agw_bo_request {
            struct_size, reserved, size, alignment, va_alignment, address, domains, flags, va_flags, va_placement, priority, pad,
        }
        agw_bo_info { struct_size, reserved, size, domains, flags }
        agw_bo_metadata { struct_size, reserved, tiling, flags, size, pad, data }
        agw_cs_ib { pad, flags, va, bytes, ip, ip_instance, ring }
        agw_cs_bo { handle, priority }
        agw_cs_dependency { ip, ip_instance, ring, context, sequence }
        agw_cs_sync { handle, flags, point }
        agw_cs {
            struct_size, reserved, ibs, bos, dependencies, waits, signals, ib_count, bo_count, dependency_count, wait_count,
            signal_count, pad,
        }
        agw_device_options { struct_size, reserved, flags, pad }
        agw_device_info {
            struct_size, reserved, drm_major, drm_minor, drm_patch, device_id, pci_revision, external_revision, gfx_level,
            has_dedicated_vram, capabilities, address32_hi, gart_page, pte_fragment, vram, visible_vram, gtt, rings,
            ib_alignment, ib_pad_mask, max_ibs, vector_cache, scalar_cache, instruction_cache, shader_array_cache, l2_cache,
            infinity_cache, scalar_caches_per_wgp, min_shader_clock, max_shader_clock, min_memory_clock, max_memory_clock,
            shadow_size, shadow_alignment, csa_size, csa_alignment, device_answer,
        }
        agw_page_fault { struct_size, reserved, address, status, hub }
        agw_sparse_head { va, size }
        agw_sparse_bind { offset, size, bo, bo_offset }
        agw_sync_point { sync, point }
        agw_memory_manager_options { struct_size, reserved, flags, vram_limit_mib }
        agw_memory_heap { size, flags, kind }
        agw_memory_type { domains, create_flags, heap, properties, is_32bit, pad }
        agw_heap_budget { budget, usage }
        agw_memory_request { struct_size, reserved, size, address, memory_type, flags, priority, pad }
        agw_cmd_window { cdw, max_dw, reserved_dw, buf }
        agw_stream_head { window, user, ip, is_chained }
        agw_ib { va, dwords, pad }
        agw_submission {
            struct_size, reserved, streams, initial, further, last, followers, bos, sets, waits, signals, stream_count,
            initial_count, further_count, last_count, follower_count, bo_count, set_count, wait_count, signal_count, keep, flags,
            pad,
        }
        agw_video_ib { bo, offset, dwords, pad }
        agw_video_submission {
            struct_size, reserved, ibs, bos, sets, waits, signals, ib_count, bo_count, set_count, wait_count, signal_count, pad,
        }
    }
}

/// Returns the structures of the header with the names of their fields, in order.
fn structures(header: &str) -> Vec<(String, Vec<String>)> {
    let field = |line: &str| {
        let declared = line.trim().strip_suffix(';')?;
        let name = declared.split('[').next()?.rsplit([' ', '*']).next()?;
        Some(name.to_owned())
    };
    let of = |text: &str| {
        let (name, rest) = text.split_once(" {\n")?;
        let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let (fields, _) = rest.split_once("\n};")?;
        is_name.then(|| (name.to_owned(), fields.lines().filter_map(field).collect()))
    };
    header.split("\nstruct ").skip(1).filter_map(of).collect()
}

#[test]
fn c_and_rust_have_the_same_layouts() {
    let layouts = layouts();
    let header = fs::read_to_string(header()).unwrap();
    let mut declared = structures(&header);
    let mut listed: Vec<_> = layouts
        .iter()
        .map(|(name, _, fields)| (String::from(*name), fields.iter().map(|(field, _)| String::from(*field)).collect()))
        .collect();
    declared.sort();
    listed.sort();
    assert_eq!(declared, listed, "each structure of the header with all of its fields");
    let mut assertions = String::from(
        "#include \"amdgpu_winsys.h\"\n#ifdef __cplusplus\n#define _Static_assert static_assert\n#endif\n",
    );
    for (name, size, fields) in &layouts {
        writeln!(assertions, "_Static_assert(sizeof(struct {name}) == {size}, \"{name}\");").unwrap();
        for (field, offset) in fields {
            writeln!(assertions, "_Static_assert(offsetof(struct {name}, {field}) == {offset}, \"{name}.{field}\");")
                .unwrap();
        }
    }
    for (compiler, standard, end) in [("cc", "c11", "c"), ("c++", "c++17", "cpp")] {
        check(compiler, standard, end, "layouts", &assertions).unwrap();
        let wrong = assertions.replace("sizeof(struct agw_bo_head) == 24", "sizeof(struct agw_bo_head) == 32");
        assert!(check(compiler, standard, end, "wrong", &wrong).is_err(), "{compiler} takes what is false");
    }
}
