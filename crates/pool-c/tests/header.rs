//! The structures of the header are those of the library, and C and C++ compilers take it without a word.

use std::{fmt::Write as _, fs, mem::offset_of, path::Path, process::Command};

use amdgpu_pool_c::{CFit, CGpu, CHeap, CLimit};

macro_rules! layout {
    ($text:ident, $structure:literal, $ours:ty, $($field:ident),* $(,)?) => {
        writeln!($text, "ASSERT(sizeof(struct {}) == {}, \"size\");", $structure, size_of::<$ours>()).unwrap();
        $(writeln!(
            $text,
            "ASSERT(offsetof(struct {}, {}) == {}, \"{}\");",
            $structure, stringify!($field), offset_of!($ours, $field), stringify!($field),
        ).unwrap();)*
    };
}

#[test]
fn structures_have_the_same_layout_in_c_and_cpp() {
    let mut text = "#include \"amdgpu_pool.h\"\n#ifdef __cplusplus\n#define ASSERT static_assert\n#else\n\
                    #define ASSERT _Static_assert\n#endif\n"
        .to_owned();
    layout!(
        text,
        "amdgpu_pool_gpu",
        CGpu,
        struct_size,
        kind,
        pci,
        render,
        limited_by,
        device_id,
        is_asleep,
        vram_total,
        vram_usable,
        vram_used,
        visible_vram_total,
        visible_vram_used,
        gtt_total,
        gtt_usable,
        gtt_used,
        total,
        available,
        largest_now,
        largest_accepted,
        largest_recommended,
        own_vram,
        own_gtt,
        others_vram,
        others_gtt,
        shared_vram,
        shared_gtt,
        heaps,
        limits,
        missing,
    );
    layout!(text, "amdgpu_pool_heap", CHeap, struct_size, is_device_local, kind, size, budget, usage, is_pooled, pad);
    layout!(text, "amdgpu_pool_limit", CLimit, struct_size, state, bytes, name, source, why);
    layout!(
        text,
        "amdgpu_pool_fit",
        CFit,
        struct_size,
        verdict,
        is_in_one_piece,
        pad,
        own_memory,
        system_memory,
        lacking,
        reason,
    );
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (compiler, standard, end) in [("cc", "c11", "c"), ("c++", "c++17", "cpp")] {
        let source = scratch.join(format!("layout.{end}"));
        fs::write(&source, &text).unwrap();
        let output = Command::new(compiler)
            .args([&format!("-std={standard}"), "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
            .arg(&source)
            .output()
            .unwrap_or_else(|error| panic!("{compiler}: {error}"));
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_numbers_of_the_header_are_those_of_the_library() {
    let header = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/amdgpu_pool.h")).unwrap();
    for (name, value) in [
        ("OK", amdgpu_pool_c::OK.to_string()),
        ("NO_GPU", amdgpu_pool_c::NO_GPU.to_string()),
        ("NOT_READABLE", amdgpu_pool_c::NOT_READABLE.to_string()),
        ("BAD_ARGUMENT", amdgpu_pool_c::BAD_ARGUMENT.to_string()),
        ("OUT_OF_RANGE", amdgpu_pool_c::OUT_OF_RANGE.to_string()),
        ("WAKE", format!("{}u", amdgpu_pool_c::WAKE)),
        ("NO_PROCESSES", format!("{}u", amdgpu_pool_c::NO_PROCESSES)),
    ] {
        let start = format!("#define AMDGPU_POOL_{name} ");
        let line = header.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
        assert_eq!(line.split_whitespace().next(), Some(value.as_str()), "{name}");
    }
}
