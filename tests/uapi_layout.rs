//! The structures and numbers of `uapi` are those of the C headers that `libdrm-dev` installs.
//!
//! The test compiles a small C program against them and compares every size, offset and request number. Without a C
//! compiler or the headers it says so and passes, unless `AMDGPU_WINSYS_REQUIRE_C_HEADERS` is set, as CI sets it.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, process::Command};

use amdgpu_winsys::uapi::{self, Argument, Layout};

/// A structure: C name, size, fields with offsets.
struct Structure {
    c_name: &'static str,
    size: usize,
    fields: &'static [(&'static str, usize)],
}

fn structure<T: Layout>() -> Structure {
    Structure { c_name: T::C_NAME, size: T::SIZE, fields: T::FIELDS }
}

macro_rules! structures {
    ($($name:ident),* $(,)?) => { vec![$(structure::<uapi::$name>()),*] };
}

/// Structures of mode setting.
fn structures_of_displays() -> Vec<Structure> {
    structures!(
        ModeCardRes,
        ModeCrtc,
        ModeGetEncoder,
        ModeGetConnector,
        ModeGetProperty,
        ModePropertyEnum,
        ModeGetBlob,
        ModeCreateDumb,
        ModeMapDumb,
        ModeDestroyDumb,
        ModeGetPlaneRes,
        ModeGetPlane,
        ModeObjGetProperties,
        ModeInfo,
        ModeFbCmd,
        ModeFbCmd2,
        ModeFbDirty,
        ModeCloseFb,
        ModePageFlip,
        EventVblank,
        ModeAtomic,
        ModeCreateBlob,
        ModeDestroyBlob,
        ModeObjSetProperty,
        ModeConnectorSetProperty,
        ModeSetPlane,
        ModeCursor,
        ModeCursor2,
        ModeCrtcLut,
        ColorLut,
        WaitVblank,
        CrtcGetSequence,
        CrtcQueueSequence,
        EventCrtcSequence,
        ModeCreateLease,
        ModeListLessees,
        ModeGetLease,
        ModeRevokeLease,
    )
}

fn structures() -> Vec<Structure> {
    let mut all = structures_of_displays();
    all.extend(structures!(
        Version,
        Unique,
        Auth,
        Client,
        SetVersion,
        GemClose,
        GemFlink,
        GemOpen,
        GetCap,
        SetClientCap,
        PrimeHandle,
        SyncobjCreate,
        SyncobjDestroy,
        SyncobjHandle,
        SyncobjTransfer,
        SyncobjWait,
        SyncobjTimelineWait,
        SyncobjArray,
        SyncobjTimelineArray,
        SyncobjEventfd,
        DmaBufSync,
        DmaBufSyncFile,
        SyncMerge,
        SyncFileInfo,
        SyncFenceInfo,
        GemCreate,
        GemCreateAnswer,
        GemMmap,
        GemMmapAnswer,
        GemMetadata,
        GemWaitIdle,
        GemWaitIdleAnswer,
        GemVa,
        GemOp,
        GemUserptr,
        Ctx,
        Vm,
        Sched,
        BoList,
        BoListEntry,
        BoListAnswer,
        Cs,
        CsAnswer,
        CsChunk,
        CsChunkIb,
        CsChunkDep,
        CsChunkFence,
        CsChunkSem,
        CsChunkSyncobj,
        CsChunkCpGfxShadow,
        CsFence,
        WaitCs,
        WaitCsAnswer,
        WaitFences,
        WaitFencesAnswer,
        Info,
        InfoFirmware,
        InfoHwIp,
        HeapInfo,
        MemoryInfo,
        InfoVramGtt,
        InfoGds,
        GpuvmFault,
        InfoNumHandles,
        InfoVbios,
        InfoVceClockEntry,
        InfoVceClockTable,
        InfoVideoCodec,
        InfoVideoCaps,
        DevInfo,
    ));
    all
}

/// Structures that headers older than Linux 6.16 do not have.
fn newer_structures() -> Vec<Structure> {
    structures!(
        Userq,
        UserqAnswer,
        UserqGfx,
        UserqSdma,
        UserqCompute,
        UserqSignal,
        UserqFenceInfo,
        UserqWait,
        UqFwAreas,
    )
}

/// Requests that those headers do not have, by their C name.
fn newer_requests() -> BTreeMap<&'static str, u32> {
    BTreeMap::from([
        ("DRM_IOCTL_AMDGPU_USERQ", uapi::Userq::REQUEST.bits()),
        ("DRM_IOCTL_AMDGPU_USERQ_SIGNAL", uapi::UserqSignal::REQUEST.bits()),
        ("DRM_IOCTL_AMDGPU_USERQ_WAIT", uapi::UserqWait::REQUEST.bits()),
    ])
}

/// The macro that tells headers with them.
const NEWER: &str = "DRM_AMDGPU_USERQ";

/// The bits of a request's number that are the size of its structure.
const SIZE_BITS: usize = 0x3fff << 16;

/// Returns `true` if newer headers may say `found` where we say `value`: structures grow at their end, and with them the numbers
/// of requests. The kernel takes the shorter ones too.
fn may_have_grown(key: &str, found: usize, value: usize) -> bool {
    if key.starts_with("DRM_IOCTL") {
        found & !SIZE_BITS == value & !SIZE_BITS && found & SIZE_BITS >= value & SIZE_BITS
    } else {
        !key.contains('.') && found >= value
    }
}

/// Names of those that are unions in C.
const UNIONS: [&str; 1] = ["drm_wait_vblank"];

/// Requests by their C name.
fn requests() -> BTreeMap<&'static str, u32> {
    let mut all = BTreeMap::new();
    macro_rules! of {
        ($($c_name:literal: $argument:ident),* $(,)?) => {
            $( all.insert($c_name, uapi::$argument::REQUEST.bits()); )*
        };
    }
    of!(
        "DRM_IOCTL_VERSION": Version,
        "DRM_IOCTL_GET_UNIQUE": Unique,
        "DRM_IOCTL_GET_MAGIC": Auth,
        "DRM_IOCTL_GET_CLIENT": Client,
        "DRM_IOCTL_SET_VERSION": SetVersion,
        "DRM_IOCTL_GEM_CLOSE": GemClose,
        "DRM_IOCTL_GEM_FLINK": GemFlink,
        "DRM_IOCTL_GEM_OPEN": GemOpen,
        "DRM_IOCTL_GET_CAP": GetCap,
        "DRM_IOCTL_SET_CLIENT_CAP": SetClientCap,
        "DRM_IOCTL_MODE_GETRESOURCES": ModeCardRes,
        "DRM_IOCTL_MODE_GETCRTC": ModeCrtc,
        "DRM_IOCTL_MODE_GETENCODER": ModeGetEncoder,
        "DRM_IOCTL_MODE_GETCONNECTOR": ModeGetConnector,
        "DRM_IOCTL_MODE_GETPROPERTY": ModeGetProperty,
        "DRM_IOCTL_MODE_GETPROPBLOB": ModeGetBlob,
        "DRM_IOCTL_MODE_CREATE_DUMB": ModeCreateDumb,
        "DRM_IOCTL_MODE_MAP_DUMB": ModeMapDumb,
        "DRM_IOCTL_MODE_DESTROY_DUMB": ModeDestroyDumb,
        "DRM_IOCTL_MODE_GETPLANERESOURCES": ModeGetPlaneRes,
        "DRM_IOCTL_MODE_GETPLANE": ModeGetPlane,
        "DRM_IOCTL_MODE_OBJ_GETPROPERTIES": ModeObjGetProperties,
        "DRM_IOCTL_MODE_ADDFB": ModeFbCmd,
        "DRM_IOCTL_MODE_ADDFB2": ModeFbCmd2,
        "DRM_IOCTL_MODE_PAGE_FLIP": ModePageFlip,
        "DRM_IOCTL_MODE_DIRTYFB": ModeFbDirty,
        "DRM_IOCTL_MODE_SETPROPERTY": ModeConnectorSetProperty,
        "DRM_IOCTL_MODE_OBJ_SETPROPERTY": ModeObjSetProperty,
        "DRM_IOCTL_MODE_ATOMIC": ModeAtomic,
        "DRM_IOCTL_MODE_CREATEPROPBLOB": ModeCreateBlob,
        "DRM_IOCTL_MODE_DESTROYPROPBLOB": ModeDestroyBlob,
        "DRM_IOCTL_MODE_SETPLANE": ModeSetPlane,
        "DRM_IOCTL_MODE_CURSOR": ModeCursor,
        "DRM_IOCTL_MODE_CURSOR2": ModeCursor2,
        "DRM_IOCTL_MODE_GETGAMMA": ModeCrtcLut,
        "DRM_IOCTL_WAIT_VBLANK": WaitVblank,
        "DRM_IOCTL_CRTC_GET_SEQUENCE": CrtcGetSequence,
        "DRM_IOCTL_CRTC_QUEUE_SEQUENCE": CrtcQueueSequence,
        "DRM_IOCTL_PRIME_HANDLE_TO_FD": PrimeHandle,
        "DRM_IOCTL_SYNCOBJ_CREATE": SyncobjCreate,
        "DRM_IOCTL_SYNCOBJ_DESTROY": SyncobjDestroy,
        "DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD": SyncobjHandle,
        "DRM_IOCTL_SYNCOBJ_WAIT": SyncobjWait,
        "DRM_IOCTL_SYNCOBJ_RESET": SyncobjArray,
        "DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT": SyncobjTimelineWait,
        "DRM_IOCTL_SYNCOBJ_QUERY": SyncobjTimelineArray,
        "DRM_IOCTL_SYNCOBJ_TRANSFER": SyncobjTransfer,
        "DRM_IOCTL_SYNCOBJ_EVENTFD": SyncobjEventfd,
        "DRM_IOCTL_AMDGPU_GEM_CREATE": GemCreate,
        "DRM_IOCTL_AMDGPU_GEM_MMAP": GemMmap,
        "DRM_IOCTL_AMDGPU_GEM_METADATA": GemMetadata,
        "DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE": GemWaitIdle,
        "DRM_IOCTL_AMDGPU_GEM_VA": GemVa,
        "DRM_IOCTL_AMDGPU_GEM_OP": GemOp,
        "DRM_IOCTL_AMDGPU_GEM_USERPTR": GemUserptr,
        "DRM_IOCTL_AMDGPU_CTX": Ctx,
        "DRM_IOCTL_AMDGPU_VM": Vm,
        "DRM_IOCTL_AMDGPU_SCHED": Sched,
        "DRM_IOCTL_AMDGPU_BO_LIST": BoList,
        "DRM_IOCTL_AMDGPU_CS": Cs,
        "DRM_IOCTL_AMDGPU_WAIT_CS": WaitCs,
        "DRM_IOCTL_AMDGPU_WAIT_FENCES": WaitFences,
        "DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE": FenceToHandle,
        "DRM_IOCTL_AMDGPU_INFO": Info,
    );
    for (c_name, request) in [
        ("DRM_IOCTL_SET_MASTER", uapi::SET_MASTER),
        ("DRM_IOCTL_DROP_MASTER", uapi::DROP_MASTER),
        ("DRM_IOCTL_AUTH_MAGIC", uapi::AUTH_MAGIC),
        ("DRM_IOCTL_PRIME_FD_TO_HANDLE", uapi::PRIME_FD_TO_HANDLE),
        ("DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE", uapi::SYNCOBJ_FD_TO_HANDLE),
        ("DRM_IOCTL_SYNCOBJ_SIGNAL", uapi::SYNCOBJ_SIGNAL),
        ("DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL", uapi::SYNCOBJ_TIMELINE_SIGNAL),
        ("DMA_BUF_IOCTL_SYNC", uapi::DMA_BUF_SYNC),
        ("DMA_BUF_IOCTL_EXPORT_SYNC_FILE", uapi::DMA_BUF_EXPORT_SYNC_FILE),
        ("DMA_BUF_IOCTL_IMPORT_SYNC_FILE", uapi::DMA_BUF_IMPORT_SYNC_FILE),
        ("DMA_BUF_SET_NAME_A", uapi::DMA_BUF_SET_NAME_32),
        ("DMA_BUF_SET_NAME_B", uapi::DMA_BUF_SET_NAME),
        ("SYNC_IOC_MERGE", uapi::SYNC_FILE_MERGE),
        ("SYNC_IOC_FILE_INFO", uapi::SYNC_FILE_INFO),
    ] {
        all.insert(c_name, request.bits());
    }
    all
}

/// A C program that prints one `key value` line for each size, offset and number.
fn program() -> String {
    let mut source = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include <drm.h>\n#include <amdgpu_drm.h>\n\
         #include <linux/dma-buf.h>\n#include <linux/sync_file.h>\nint main(void) {\n",
    );
    print_facts(&mut source, &structures(), &requests());
    writeln!(source, "#ifdef {NEWER}\nprintf(\"{NEWER} 1\\n\");").unwrap();
    print_facts(&mut source, &newer_structures(), &newer_requests());
    source.push_str("#endif\nreturn 0;\n}\n");
    source
}

fn print_facts(source: &mut String, structures: &[Structure], requests: &BTreeMap<&'static str, u32>) {
    for structure in structures {
        let name = structure.c_name;
        let tag = if UNIONS.contains(&name) { "union" } else { "struct" };
        writeln!(source, "printf(\"{name} %zu\\n\", sizeof({tag} {name}));").unwrap();
        for (field, _) in structure.fields.iter().filter(|(field, _)| !field.is_empty()) {
            writeln!(source, "printf(\"{name}.{field} %zu\\n\", offsetof({tag} {name}, {field}));").unwrap();
        }
    }
    for name in requests.keys() {
        writeln!(source, "printf(\"{name} %lu\\n\", (unsigned long){name});").unwrap();
    }
}

fn expected(structures: Vec<Structure>, requests: BTreeMap<&'static str, u32>) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for structure in structures {
        all.insert(structure.c_name.to_owned(), structure.size);
        for &(field, offset) in structure.fields.iter().filter(|(field, _)| !field.is_empty()) {
            all.insert(format!("{}.{field}", structure.c_name), offset);
        }
    }
    all.extend(requests.into_iter().map(|(name, bits)| (name.to_owned(), bits as usize)));
    all
}

/// Prints what the headers say, or `None` where there is no compiler or no header.
fn compile_and_run(directory: &Path) -> Option<String> {
    let source = directory.join("layout.c");
    let binary = directory.join("layout");
    fs::write(&source, program()).unwrap();
    let output = Command::new("cc").args(["-I/usr/include/libdrm", "-o"]).arg(&binary).arg(&source).output().ok()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("No such file"), "the headers lack something we declare:\n{message}");
        return None;
    }
    let output = Command::new(&binary).output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn sizes_offsets_and_numbers_are_those_of_the_c_headers() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("uapi_layout");
    fs::create_dir_all(&directory).unwrap();
    let Some(printed) = compile_and_run(&directory) else {
        assert!(
            std::env::var_os("AMDGPU_WINSYS_REQUIRE_C_HEADERS").is_none(),
            "cc and the headers of libdrm-dev are required here"
        );
        eprintln!("skipped: no C compiler, or no libdrm-dev");
        return;
    };
    let found: BTreeMap<String, usize> = printed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(key, value)| (key.to_owned(), value.parse().unwrap()))
        .collect();
    let mut all = expected(structures(), requests());
    let is_newer = found.contains_key(NEWER);
    if is_newer {
        all.extend(expected(newer_structures(), newer_requests()));
    } else {
        eprintln!("user queues are not compared: the headers do not have them");
    }
    let expected = all;
    assert!(expected.len() > 300, "only {} facts are compared", expected.len());
    for (key, &value) in &expected {
        let found = found.get(key).copied();
        let grown = is_newer && found.is_some_and(|found| may_have_grown(key, found, value));
        assert!(found == Some(value) || grown, "{key}: the headers say {found:?}, we say {value}");
    }
}
