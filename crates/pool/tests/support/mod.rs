//! A machine with one GPU, made of files and of answers to INFO.
#![allow(dead_code, reason = "every test binary uses another part")]

use std::{cell::Cell, io};

use amdgpu_pool::{
    Facts, Gpu, Machine, MemoryInfo, Options, PoolInfo, Session,
    files::{Files, Memory},
    look,
};

pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const PCI: &str = "0000:03:00.0";

/// A machine that counts how often its GPU is opened.
pub(crate) struct Fake {
    pub(crate) files: Memory,
    pub(crate) facts: Facts,
    pub(crate) memory: Option<MemoryInfo>,
    pub(crate) own: Option<u32>,
    pub(crate) opened: Cell<u32>,
}

pub(crate) fn pool(total: u64, used: u64) -> PoolInfo {
    PoolInfo { total, usable: total, used, max_allocation: total / 4 * 3 }
}

impl Fake {
    /// An APU (Strix Halo) or a card (Navi 21) with these pools, in a machine with this much memory.
    pub(crate) fn new(is_apu: bool, vram: PoolInfo, gtt: PoolInfo, mem_total: u64, mem_available: u64) -> Self {
        let mut files = Memory::default();
        let id = if is_apu { "1586" } else { "73BF" };
        let device = "sys/class/drm/renderD128/device";
        files.put(format!("{device}/uevent"), format!("DRIVER=amdgpu\nPCI_ID=1002:{id}\nPCI_SLOT_NAME={PCI}\n"));
        files.put(format!("{device}/power/runtime_status"), "active\n");
        files.put("sys/class/drm/card0/device/uevent", "DRIVER=amdgpu\n");
        for (name, value) in [
            ("vram_total", vram.total),
            ("vram_used", vram.used),
            ("vis_vram_total", vram.total),
            ("vis_vram_used", vram.used),
            ("gtt_total", gtt.total),
            ("gtt_used", gtt.used),
        ] {
            files.put(format!("{device}/mem_info_{name}"), format!("{value}\n"));
        }
        let kib = |bytes: u64| bytes >> 10;
        let meminfo = format!("MemTotal: {} kB\nMemAvailable: {} kB\n", kib(mem_total), kib(mem_available));
        files.put("proc/meminfo", meminfo);
        files.put("proc/self/cgroup", "0::/user.slice/app.scope\n");
        let memory = Some(MemoryInfo { vram, visible_vram: vram, gtt });
        Self { files, facts: Facts { is_apu, page_size: 4096 }, memory, own: None, opened: Cell::new(0) }
    }

    /// The machine's one GPU.
    pub(crate) fn gpu(&self) -> Gpu {
        self.gpu_with(Options::default())
    }

    pub(crate) fn gpu_with(&self, options: Options) -> Gpu {
        let report = look(self, &options).unwrap();
        assert_eq!(report.gpus.len(), 1);
        report.gpus.into_iter().next().unwrap()
    }

    /// A process with one client, whose fdinfo is the kernel's lines.
    pub(crate) fn process(&mut self, pid: u32, client: u32, lines: &str) {
        let entry = amdgpu_pool::files::Entry::Link("/dev/dri/renderD128".to_owned());
        self.files.put_entry(format!("proc/{pid}/fd/7"), entry);
        let text =
            format!("drm-driver:\tamdgpu\ndrm-client-id:\t{client}\ndrm-pdev:\t{PCI}\npasid:\t{client}\n{lines}");
        self.files.put(format!("proc/{pid}/fdinfo/7"), text);
        self.files.put(format!("proc/{pid}/stat"), format!("{pid} (loader) S 1 {}4200 0\n", "0 ".repeat(17)));
    }
}

struct Answers(Facts, Option<MemoryInfo>);

impl Session for Answers {
    fn facts(&mut self) -> Result<Facts, String> {
        Ok(self.0)
    }

    fn memory(&mut self) -> io::Result<MemoryInfo> {
        self.1.ok_or_else(|| io::ErrorKind::PermissionDenied.into())
    }
}

impl Machine for Fake {
    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Session + '_>> {
        assert_eq!((node, pci), ("renderD128", PCI));
        self.opened.set(self.opened.get() + 1);
        Ok(Box::new(Answers(self.facts, self.memory)))
    }

    fn own_process(&self) -> Option<u32> {
        self.own
    }
}
