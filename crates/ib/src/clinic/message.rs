//! Messages of the kernel about a GPU, by their text.
//!
//! A message is recognised at the start of its text alone, so that names of processes that look like messages change nothing.
//!
//! Source: Linux 6.12, 7.2 and 7.3 `drivers/gpu/drm/amd/amdgpu` (`amdgpu_job.c`, `amdgpu_device.c`, `amdgpu_dev_coredump.c`,
//! `amdgpu_vm.c`, `gmc_v6_0.c` to `gmc_v12_0.c`, `amdgpu_mes.c`, `amdgpu_psp.c`), `pm/swsmu`, `drm_drv.c`; public logs for others.

/// A process and its thread, as the kernel names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Process {
    /// The name, at most 15 bytes.
    pub(crate) name: String,
    /// The process ID.
    pub(crate) pid: u32,
    /// The name of the thread.
    pub(crate) thread: String,
}

impl Process {
    /// Returns the name for people: some systems tell the process ID alone.
    pub(crate) fn called(&self) -> String {
        if self.name.is_empty() { format!("process {}", self.pid) } else { self.name.clone() }
    }

    /// Returns `true` for a job of the kernel itself.
    pub(crate) fn is_kernel(&self) -> bool {
        self.pid == 0 && self.name.is_empty()
    }

    /// Parses `NAME pid PID thread NAME pid PID`, from its end, because names may contain any text.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim_end().trim_end_matches(')');
        let (rest, _thread_id) = text.rsplit_once(" pid ")?;
        let (rest, thread) = rest.rsplit_once(" thread ").or_else(|| Some((rest.strip_suffix(" thread")?, "")))?;
        let (name, pid) = rest.rsplit_once(" pid ").or_else(|| Some(("", rest.trim_start().strip_prefix("pid ")?)))?;
        Some(Self { name: short(name.trim()), pid: pid.trim().parse().ok()?, thread: short(thread.trim()) })
    }
}

/// The longest text that is kept from a message, in characters.
const LONGEST: usize = 160;

/// Returns the beginning of a text.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// The bits of a fault's status, which the status itself has. They are most of the lines of a log with many faults.
const BITS: [&str; 5] = ["MORE_FAULTS:", "WALKER_ERROR:", "PERMISSION_FAULTS:", "MAPPING_ERROR:", "RW:"];

/// The text about registers of the power controller that read all ones.
const ALL_ONES: &str = "the power controller's registers read all ones";

/// A message of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message<'t> {
    /// The version of the kernel.
    Kernel(&'t str),
    /// The parameters of the kernel.
    Parameters(&'t str),
    /// The state of the GPU is dumped, at the start of an incident.
    Dumping,
    /// A ring timed out, and killing its waves sufficed.
    SoftRecovered { ring: &'t str },
    /// A ring timed out, with the last job that was done and the last one that was submitted; `None` if the line was cut off.
    TimedOut { ring: &'t str, jobs: Option<(u32, u32)> },
    /// The process of the line before.
    Process(Process),
    /// A ring is reset.
    RingReset { ring: &'t str },
    /// A ring was reset, or not.
    RingResetEnd { ring: &'t str, is_done: bool },
    /// A step of a reset of which nothing but the text is of interest.
    Step(&'t str),
    /// The device was reported to user space as wedged.
    Wedged { is_recovered: bool },
    /// The GPU is reset.
    Reset { source: Option<u32> },
    /// The way of resetting the GPU.
    Method(&'static str),
    /// The contents of VRAM are lost.
    VramLost,
    /// A part of the GPU did not start again.
    PartFailed { text: &'t str, error: Option<i32> },
    /// The GPU was reset, or not.
    ResetEnd { count: Option<u32>, is_done: bool, error: Option<i32> },
    /// Resets are disabled.
    RecoveryDisabled,
    /// A page fault.
    Fault { hub: &'t str, vmid: Option<u8>, pasid: Option<u32>, is_retry: bool, process: Option<Process> },
    /// The address of a page fault.
    FaultAddress { address: u64 },
    /// The address, address space and client of a page fault of GFX6 to GFX8, in one line.
    OldFault { address: u64, vmid: Option<u8>, pasid: Option<u32>, client: Option<&'t str> },
    /// The status of a page fault; `is_old` for the layout before GFX9.
    FaultStatus { status: u32, is_gfx9: bool, is_old: bool },
    /// The client of a page fault, by name.
    FaultClient { name: &'t str },
    /// The command processor met something that it cannot execute.
    Illegal { what: &'static str },
    /// The scheduler's firmware does not answer.
    Mes { message: &'t str },
    /// The power controller does not answer.
    Smu { message: Option<u32>, parameter: Option<u32> },
    /// Registers of the GPU read all ones: it is off, or not on the bus.
    AllOnes(&'t str),
    /// The bus reports an error of the GPU, which it may recover from.
    BusError(&'t str),
    /// The security processor refuses a command.
    Psp { command: &'t str },
    /// A firmware file is missing.
    Firmware { file: &'t str, error: Option<i32> },
    /// The driver did not start.
    NotStarted { text: &'t str },
    /// The driver started, and names the GPU at the end of its text.
    Started { text: &'t str },
    /// A submission has more memory than there is.
    NoMemory,
    /// A framebuffer was not pinned.
    NotPinned { error: i32 },
    /// A submission was refused.
    Refused { error: i32 },
    /// An interrupt of a ring was lost.
    LostInterrupt { ring: &'t str },
    /// The display waits.
    DisplayWaits,
    /// The GPU is too hot.
    TooHot { is_off: bool, is_hardware: bool },
    /// The GPU is no longer reachable.
    Unreachable(&'t str),
    /// A bus bridge reports trouble, whose device may be another one.
    Bridge(&'t str),
    /// The driver lets go of the GPU: after the card was removed, or because somebody asked for it.
    LetGo,
    /// The memory or another part reports an uncorrectable error.
    HardwareError(&'t str),
    /// A queue of ROCm is stuck.
    KfdStuck(&'t str),
    /// The display's microcontroller reports an error.
    DisplayFirmware(&'t str),
    /// The kernel begins to tell of an invalid access of its own, by a function that follows.
    Oops(&'t str),
    /// The function and module in which the kernel failed or warns.
    OopsAt(&'t str),
    /// The kernel tells of a thread that waits for long, by functions that follow.
    Blocked(&'t str),
    /// A function of the graphics drivers in which a thread of the kernel is.
    Frame(&'t str),
    /// A thread of the kernel waits in the graphics drivers.
    Waits(&'t str),
    /// The kernel's graphics drivers failed.
    KernelBug(&'t str),
    /// The kernel killed a process because memory was used up.
    Killed { process: &'t str },
}

use Message as M;

impl<'t> Message<'t> {
    /// Recognises a message of the driver.
    #[expect(clippy::too_many_lines, reason = "an arm for each first letter")]
    pub(crate) fn driver(text: &'t str) -> Option<Self> {
        let text = without_head(text);
        let rest = |prefix: &str| text.strip_prefix(prefix);
        if BITS.iter().any(|bits| text.starts_with(bits)) {
            return None;
        }
        let known = match text.as_bytes().first()? {
            b'r' if text.starts_with("ring ") => ring(text),
            b'r' => {
                if let Some(rest) = rest("reset compute queue (") {
                    return Some(M::Step(rest.split_once(')').map_or(text, |(queue, _)| &text[..=21 + queue.len()])));
                }
                let is_step = text.starts_with("reset via MES failed");
                let is_part = text.starts_with("resume of IP block <");
                if is_part {
                    Some(M::PartFailed { text, error: last_number(text) })
                } else {
                    is_step.then_some(M::Step(text))
                }
            }
            b'P' => {
                if let Some(process) = rest("Process information: process ") {
                    return Process::parse(process).map(M::Process);
                }
                if let Some(end) = rest("PM: ") {
                    let is_resume = end.contains("pci_pm_resume") || end.starts_with("failed to resume");
                    return is_resume.then_some(M::PartFailed { text, error: None });
                }
                if text.starts_with("PSP create ring failed") {
                    return Some(M::Psp { command: "to create its ring" });
                }
                rest("Process ").and_then(Process::parse).map(M::Process)
            }
            b'S' => start_with_s(text),
            b'R' => {
                let end = rest("Ring ").and_then(|rest| rest.split_once(" reset "));
                end.and_then(|(ring, end)| {
                    let is_done = end.starts_with("succeeded");
                    (is_done || end.starts_with("fail")).then_some(M::RingResetEnd { ring, is_done })
                })
            }
            b'G' => start_with_g(text),
            b'M' if text.starts_with("MES") => mes(text),
            b'M' => match text {
                "MODE1 reset" => Some(M::Method("MODE1")),
                "MODE2 reset" => Some(M::Method("MODE2")),
                _ => status(text),
            },
            b'B' => (text == "BACO reset").then_some(M::Method("BACO")),
            b'V' => {
                if text.starts_with("VRAM is lost") {
                    return Some(M::VramLost);
                }
                if text.starts_with("VM fault (") {
                    return old_fault(text);
                }
                old_address(text).or_else(|| status(text))
            }
            b'[' => fault(text).or_else(|| {
                let is_late = ["flip_done timed out", "commit wait timed out", "hw_done timed out"];
                // Other drivers name their pipes and heads.
                let is_late = is_late.iter().any(|late| text.ends_with(late)) && text.contains(":crtc-");
                (text.starts_with("[CRTC:") && is_late).then_some(M::DisplayWaits)
            }),
            b'i' => {
                if let Some(address) = rest("in page starting at address ") {
                    let address = address.split_whitespace().next().and_then(hexadecimal)?;
                    return Some(M::FaultAddress { address });
                }
                if let Some(process) = rest("in process ") {
                    return Process::parse(process).map(M::Process);
                }
                rest("ib ring test failed").map(|_| M::PartFailed { text, error: last_number(text) })
            }
            b'f' if text.starts_with("for process ") => rest("for process ").and_then(Process::parse).map(M::Process),
            b'F' | b'f' => start_with_f(text),
            b'D' => {
                if let Some(file) = rest("Direct firmware load for ") {
                    let (file, error) = file.split_once(" failed with error ")?;
                    return Some(M::Firmware { file, error: error.trim().parse().ok() });
                }
                text.starts_with("Dumping IP State").then_some(M::Dumping)
            }
            b'A' => text.starts_with("AMDGPU device coredump file has been created").then_some(M::Dumping),
            b'd' => {
                if let Some(end) = rest("device wedged, ") {
                    return Some(M::Wedged { is_recovered: !end.starts_with("needs recovery") });
                }
                if text.contains("DMCUB error") {
                    return Some(M::DisplayFirmware("the display's microcontroller (DMUB) reports an error"));
                }
                text.starts_with("device lost from bus").then_some(M::Unreachable(text))
            }
            b'I' if text.starts_with("Initialized amdgpu ") => Some(M::Started { text }),
            b'I' if text.starts_with("IB test failed on ") => Some(M::PartFailed { text, error: last_number(text) }),
            b'a' if text.starts_with("amdgpu_device_ip_resume failed") => {
                Some(M::PartFailed { text, error: last_number(text) })
            }
            b'I' => illegal(text),
            b'T' => text
                .starts_with("The CPFW hasn't support pipe reset")
                .then_some(M::Step(text))
                .or_else(|| text.starts_with("The cp might be in an unrecoverable state").then_some(M::KfdStuck(text))),
            b'N' => text.starts_with("Not enough memory for command submission").then_some(M::NoMemory),
            b'W' => text.starts_with("Waiting for fences timed out").then_some(M::DisplayWaits),
            b'E' => {
                let end = rest("ERROR: ")?;
                let is_hardware = end.contains("HW CTF") || end.contains("HW Critical Temperature Fault");
                if end.starts_with("GPU over temperature range") || end.starts_with("GPU HW Critical") {
                    return Some(M::TooHot { is_off: false, is_hardware });
                }
                (end.starts_with("System is going to shutdown") || end.starts_with("GPU HW CTF"))
                    .then_some(M::TooHot { is_off: true, is_hardware })
            }
            b'q' => text.starts_with("qcm fence wait loop timeout expired").then_some(M::KfdStuck(text)),
            b'C' => rest("Command line: ").map(M::Parameters),
            b'L' => rest("Linux version ").map(M::Kernel),
            b'h' | b's' => {
                let is_init = text.starts_with("hw_init of IP block <") || text.starts_with("sw_init of IP block <");
                is_init.then_some(M::NotStarted { text })
            }
            b'p' if text.starts_with("probe ") && text.contains(" failed with error ") => Some(M::NotStarted { text }),
            b'g' => text.starts_with("gpu post error").then_some(M::NotStarted { text }),
            b'p' => rest("psp gfx command ").and_then(|rest| Some(M::Psp { command: rest.split_once(" failed")?.0 })),
            b'K' => rest("Kernel command line: ").map(M::Parameters),
            b'l' if text.starts_with("last message was failed ret is ") => {
                Some(M::Smu { message: None, parameter: None })
            }
            _ => None,
        };
        known.or_else(|| unusual(text))
    }

    /// Recognises a message of another part of the kernel.
    pub(crate) fn other(text: &'t str) -> Option<Self> {
        if let Some(version) = text.strip_prefix("Linux version ") {
            return Some(M::Kernel(version));
        }
        if let Some(line) = text.strip_prefix("Command line: ").or_else(|| text.strip_prefix("Kernel command line: ")) {
            return Some(M::Parameters(line));
        }
        if text.starts_with("pcieport ") {
            let is_trouble = ["Link Down", "Card not present", "AER: Uncorrect", "AER: Multiple Uncorrect"];
            return is_trouble.iter().any(|word| text.contains(word)).then_some(M::Bridge(text));
        }
        if let Some(at) = text.strip_prefix("RIP: 0010:").or_else(|| text.strip_prefix("pc : ")) {
            return Some(M::OopsAt(at));
        }
        if let Some(at) = text.strip_prefix("kernel BUG at ") {
            return at.starts_with("drivers/gpu/drm/").then_some(M::KernelBug(text));
        }
        if let Some(killed) = text.split_once("Killed process ").map(|(_, killed)| killed) {
            let name = killed.split_once('(').and_then(|(_, name)| name.split_once(')')).map(|(name, _)| name)?;
            return text.contains("ut of memory").then_some(M::Killed { process: name });
        }
        if text.starts_with("INFO: task ") && text.contains(" blocked for more than ")
            || text.starts_with("watchdog: BUG: soft lockup")
        {
            return Some(M::Blocked(text.trim_end_matches('.')));
        }
        if text.contains("+0x") && is_graphics(text) {
            return Some(M::Frame(text.trim_start()));
        }
        let is_oops = text.starts_with("BUG: kernel NULL pointer dereference")
            || text.starts_with("BUG: unable to handle ")
            || text.starts_with("general protection fault")
            || text.starts_with("Oops: general protection fault")
            || text.starts_with("Unable to handle kernel ");
        is_oops.then_some(M::Oops(text))
    }
}

/// Returns `true` if a function of the kernel, with its module, is one of the graphics drivers.
pub(super) fn is_graphics(at: &str) -> bool {
    ["[amdgpu]", "[gpu_sched]", "[ttm]", "[amdttm]"].iter().any(|module| at.contains(module))
}

/// Removes the number of an event in braces, which stands before messages about errors of hardware, such as `{1}`, and the name of
/// the older driver of the power controller.
fn without_head(text: &str) -> &str {
    let text = text.strip_prefix("[powerplay]").map_or(text, str::trim_start);
    let inner = text.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    match inner.filter(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((_, rest)) => rest.trim_start(),
        None => text,
    }
}

/// Recognises what an engine met in its commands and cannot execute.
///
/// Source: Linux `gfx_vN_0.c` (`priv_reg_irq`, `priv_inst_irq`, `bad_op_irq`), `sdma_vN.c` (`process_illegal_inst_irq`).
fn illegal(text: &str) -> Option<Message<'_>> {
    let end = text.strip_prefix("Illegal ")?;
    let kinds = [
        ("register access in command stream", "register access in the command stream"),
        ("opcode in command stream", "opcode in the command stream"),
        ("instruction in command stream", "instruction in the command stream"),
        ("instruction in SDMA command stream", "instruction in a copy engine's command stream"),
    ];
    let (_, what) = kinds.into_iter().find(|(start, _)| end.starts_with(start))?;
    Some(M::Illegal { what })
}

/// Recognises errors of hardware that cannot be corrected. Lines that count none, or that say so, are no errors.
///
/// Source: Linux `amdgpu_ras.c` (`amdgpu_ras_error_print_error_data`, `amdgpu_ras_global_ras_isr`,
/// `amdgpu_ras_interrupt_poison_consumption_handler`), `amdgpu_ras_eeprom.c` (`amdgpu_ras_eeprom_check`), `gfx_v9_0.c`, `kfd_int_process_v9.c`.
fn hardware_error(text: &str) -> Option<Message<'_>> {
    let is_other = ["RAS poison consumption is issued", "poison is consumed by client", "CP EDC/ECC error detected"];
    let is_counted = text.contains("uncorrectable hardware error") && text.contains("detected");
    let is_event = text.starts_with("RAS event of type ERREVENT_ATHUB_INTERRUPT detected");
    // Pages that are bad are kept in a list on the board, whose length says when the card is to be replaced.
    let is_worn = text.starts_with("RAS records:") && text.contains(" exceed threshold:");
    if is_worn {
        return Some(M::HardwareError(text));
    }
    if !is_counted && !is_event && !is_other.iter().any(|words| text.contains(words)) {
        return None;
    }
    // The number before "new uncorrectable" or "uncorrectable".
    let (head, _) = text.split_once("uncorrectable hardware error").unwrap_or((text, ""));
    let mut words = head.split_whitespace().rev().filter(|word| *word != "new");
    let is_none = is_counted && matches!(words.next(), Some("0" | "no"));
    (!is_none).then_some(M::HardwareError(text))
}

/// Returns the messages whose start differs between versions.
fn unusual(text: &str) -> Option<Message<'_>> {
    if text.ends_with("device unplugged skipping recovery on scheduler")
        || text.contains("device unplugged skipping recovery")
    {
        return Some(M::Unreachable(text));
    }
    if let Some(error) = hardware_error(text) {
        return Some(error);
    }
    // The core of PCI, with the driver's name before.
    let is_off = text.contains("change power state from D3") && text.contains("inaccessible");
    if is_off || text.starts_with("not ready ") && text.ends_with("giving up") {
        return Some(M::Unreachable(text));
    }
    if text.starts_with("PCI error: detected callback") || text.starts_with("PCIe Bus Error: severity=Uncorrect") {
        return Some(M::BusError(text));
    }
    let is_late = ["flip_done timed out", "hw_done timed out", "commit wait timed out"];
    if is_late.contains(&text) {
        return Some(M::DisplayWaits);
    }
    (text.contains(" shutdown due to GPU ") && text.contains("CTF"))
        .then(|| M::TooHot { is_off: true, is_hardware: text.contains("HW CTF") })
}

fn ring(whole: &str) -> Option<Message<'_>> {
    let text = whole.strip_prefix("ring ")?;
    if let Some((ring, error)) = text.split_once(" test failed (") {
        return (!ring.contains(' ')).then(|| M::PartFailed { text: whole, error: last_number(error) });
    }
    let (ring, rest) = text.split_once(" timeout, ")?;
    if ring.contains(' ') {
        return None;
    }
    if rest.starts_with("but soft recovered") {
        return Some(M::SoftRecovered { ring });
    }
    if !rest.starts_with("signaled seq=") && !"signaled seq=".starts_with(rest) {
        return None;
    }
    Some(M::TimedOut { ring, jobs: jobs(rest) })
}

/// Parses `signaled seq=3, emitted seq=5`; `None` if it was cut off.
fn jobs(text: &str) -> Option<(u32, u32)> {
    let (signaled, emitted) = text.strip_prefix("signaled seq=")?.split_once(", emitted seq=")?;
    let (signaled, emitted) = (signaled.parse().ok()?, digits(emitted)?.parse().ok()?);
    // Numbers begin anew after 32 bits. A last number that is a little smaller than the first lacks digits.
    let outstanding = u32::wrapping_sub(emitted, signaled);
    (outstanding < 1 << 31).then_some((signaled, emitted))
}

/// The beginnings of messages about trouble.
const TROUBLE: [&str; 17] = [
    "GPU reset begin!",
    "GPU fault detected: ",
    "GPU recovery disabled",
    "GCVM_L2_PROTECTION_FAULT_STATUS",
    "MMVM_L2_PROTECTION_FAULT_STATUS",
    "VM_L2_PROTECTION_FAULT_STATUS",
    "VM_CONTEXT1_PROTECTION_FAULT_ADDR",
    "VRAM is lost due to GPU reset!",
    "Illegal opcode in command stream",
    "Illegal register access in command stream",
    "MES failed to respond to msg=",
    "SMU: No response msg_reg: ",
    "SMU: I'm not done with your previous command",
    "device lost from bus",
    "device wedged, ",
    "Dumping IP State",
    "qcm fence wait loop timeout expired",
];

/// Returns `true` if a text that is no message is the beginning of one about trouble, so that the line was cut off.
pub(super) fn is_cut(text: &str) -> bool {
    const LEAST: usize = 6;
    let text = without_head(text);
    let of_ring = text.strip_prefix("ring ").and_then(|text| text.split_once(' ')).map(|(_, rest)| rest);
    let is_ring = of_ring.is_some_and(|rest| rest.starts_with('t') && "timeout, ".starts_with(rest));
    let is_fault = ["[gfxhub", "[mmhub"].iter().any(|hub| text.starts_with(hub));
    is_ring || is_fault || text.len() >= LEAST && TROUBLE.iter().any(|trouble| trouble.starts_with(text))
}

/// Returns the digits at the start of a text.
fn digits(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

fn start_with_s(text: &str) -> Option<Message<'_>> {
    if let Some(ring) = text.strip_prefix("Starting ") {
        return Some(M::RingReset { ring: ring.strip_suffix(" ring reset")? });
    }
    let rest = text.strip_prefix("SMU: ")?;
    if let Some(registers) = rest.strip_prefix("I'm not done with your previous command") {
        let value = |name: &str| {
            let (_, value) = registers.split_once(name)?;
            u32::try_from(hexadecimal(value.split_whitespace().next()?)?).ok()
        };
        let (message, parameter) = (value("SMN_C2PMSG_66:"), value("SMN_C2PMSG_82:"));
        return Some(if message == Some(u32::MAX) { M::AllOnes(ALL_ONES) } else { M::Smu { message, parameter } });
    }
    let rest = rest.strip_prefix("No response msg_reg: ")?;
    let message = rest.split_whitespace().next().and_then(hexadecimal).and_then(|value| u32::try_from(value).ok());
    Some(if message == Some(u32::MAX) { M::AllOnes(ALL_ONES) } else { M::Smu { message, parameter: None } })
}

fn start_with_g(text: &str) -> Option<Message<'_>> {
    if let Some(process) = text.strip_prefix("GPU fault detected: ") {
        let process = process.split_once("for process ").and_then(|(_, process)| Process::parse(process));
        return Some(M::Fault { hub: "gfxhub", vmid: None, pasid: None, is_retry: false, process });
    }
    if text.starts_with("GCVM_L2_PROTECTION_FAULT_STATUS") {
        return status(text);
    }
    let rest = text.strip_prefix("GPU ")?;
    if rest.starts_with("over temperature range") || rest.starts_with("HW Critical Temperature Fault") {
        return Some(M::TooHot { is_off: false, is_hardware: rest.starts_with("HW") || rest.contains("HW CTF") });
    }
    if rest.starts_with("reset begin!") || rest.starts_with("jobs stop begin!") {
        let source = rest.split_once("Source:").and_then(|(_, source)| source.trim().parse().ok());
        return Some(M::Reset { source });
    }
    if let Some(rest) = rest.strip_prefix("reset(") {
        let (count, end) = rest.split_once(')')?;
        let is_done = end.trim_start().starts_with("succeeded");
        let error = if is_done { None } else { last_number(end) };
        return Some(M::ResetEnd { count: count.parse().ok(), is_done, error });
    }
    if let Some(code) = rest.strip_prefix("reset end with ret = ") {
        let error: i32 = code.trim().parse().ok()?;
        return Some(M::ResetEnd { count: None, is_done: error == 0, error: Some(error).filter(|&error| error != 0) });
    }
    if let Some(code) = rest.strip_prefix("Recovery Failed: ") {
        return Some(M::ResetEnd { count: None, is_done: false, error: code.trim().parse().ok() });
    }
    match rest {
        "mode1 reset" | "smu mode1 reset" | "psp mode1 reset" => Some(M::Method("MODE1")),
        "mode2 reset" => Some(M::Method("MODE2")),
        "pci config reset" => Some(M::Method("PCI config")),
        "link reset" => Some(M::Method("link")),
        _ if rest.starts_with("reset succeeded, trying to resume") => Some(M::Step(text)),
        _ if rest.starts_with("recovery disabled") => Some(M::RecoveryDisabled),
        _ => None,
    }
}

fn start_with_f(text: &str) -> Option<Message<'_>> {
    let rest = |prefix: &str| text.strip_prefix(prefix);
    if let Some(client) = rest("Faulty UTCL2 client ID: ") {
        return Some(M::FaultClient { name: client.rsplit_once(" (").map_or(client, |(name, _)| name) });
    }
    if let Some(ring) = rest("Fence fallback timer expired on ring ") {
        return Some(M::LostInterrupt { ring: ring.trim() });
    }
    if text.starts_with("Fatal error during GPU init") {
        return Some(M::NotStarted { text });
    }
    if text.starts_with("finishing device") {
        return Some(M::LetGo);
    }
    if let Some(error) = rest("Failed to initialize parser ").or_else(|| rest("Failed to process the buffer list ")) {
        return Some(M::Refused { error: last_number(error)? });
    }
    if let Some(sent) = rest("failed to send message ").or_else(|| rest("Failed to send message ")) {
        return smu_message(sent);
    }
    if let Some(sent) = rest("failed send message: ") {
        // `failed send message: NAME (INDEX) param: 0x00000000 response 0xffffffc2`: -62, no answer in time.
        return sent.ends_with("0xffffffc2").then_some(M::Smu { message: None, parameter: None });
    }
    if rest("Failed to pin framebuffer with error ").is_some() {
        return Some(M::NotPinned { error: last_number(text)? });
    }
    if text.starts_with("Failed to evict process queues")
        || text.starts_with("failed to remove hardware queue from MES")
    {
        return Some(M::KfdStuck(text));
    }
    let is_step = ["failed to reset legacy queue", "failed to unmap legacy queue", "failed to reset pipe"];
    is_step.iter().any(|step| text.starts_with(step)).then_some(M::Step(text))
}

fn mes(text: &str) -> Option<Message<'_>> {
    if text.starts_with("MES might be in unrecoverable state") {
        return Some(M::Step(text));
    }
    let rest = text.strip_prefix("MES")?;
    let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
    if let Some(number) = rest.strip_prefix(" failed to response msg=") {
        // Up to Linux 6.8 with the number of the message.
        return Some(M::Mes { message: number.trim().parse().ok().and_then(mes_message).unwrap_or(number) });
    }
    Some(M::Mes { message: rest.strip_prefix(" failed to respond to msg=")? })
}

/// Returns the name of a message to the scheduler's firmware.
///
/// Source: Linux `mes_v11_api_def.h`, `enum MES_SCH_API_OPCODE`.
fn mes_message(number: usize) -> Option<&'static str> {
    const NAMES: [&str; 15] = [
        "SET_HW_RSRC",
        "SET_SCHEDULING_CONFIG",
        "ADD_QUEUE",
        "REMOVE_QUEUE",
        "PERFORM_YIELD",
        "SET_GANG_PRIORITY_LEVEL",
        "SUSPEND",
        "RESUME",
        "RESET",
        "SET_LOG_BUFFER",
        "CHANGE_GANG_PRORITY",
        "QUERY_SCHEDULER_STATUS",
        "PROGRAM_GDS",
        "SET_DEBUG_VMID",
        "MISC",
    ];
    NAMES.get(number).copied()
}

/// Parses what older drivers of the power controller print of a message without an answer: `18a ret is 65535`, and
/// `0x26, response 0x0`.
///
/// Source: Linux `powerplay/smumgr` (`smu7_smumgr.c`, `vega20_smumgr.c`).
fn smu_message(text: &str) -> Option<Message<'_>> {
    let (message, answer) = text.split_once(" ret is ").or_else(|| text.split_once(", response "))?;
    let is_silent = matches!(answer.trim(), "0" | "65535" | "-1" | "0x0" | "0xffff" | "0xffffffff");
    let message = u32::try_from(hexadecimal(message.trim())?).ok();
    is_silent.then_some(M::Smu { message, parameter: None })
}

/// Parses `[gfxhub] page fault (src_id:0 ring:24 vmid:4 pasid:10)` and its older forms.
fn fault(text: &str) -> Option<Message<'_>> {
    let (hub, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let is_retry = rest.starts_with("retry ");
    let rest = rest.strip_prefix("retry ").or_else(|| rest.strip_prefix("no-retry ")).unwrap_or(rest);
    let inside = rest.strip_prefix("page fault (")?;
    let number = |name: &str| {
        let (_, value) = inside.split_once(name)?;
        let number = digits(value)?;
        // A number at the end of a line that was cut off may lack digits.
        (number.len() < value.len()).then(|| number.parse::<u32>().ok())?
    };
    let vmid = number(" vmid:").and_then(|vmid| u8::try_from(vmid).ok());
    let process = inside.split_once("process ").and_then(|(_, process)| Process::parse(process));
    Some(M::Fault { hub, vmid, pasid: number(" pasid:"), is_retry, process })
}

/// Parses `VM fault (0x02, vmid 3, pasid 32770) at page 1234, read from 'TC4' ...` of GFX6 to GFX8: the page, which has 4 KiB.
fn old_fault(text: &str) -> Option<Message<'_>> {
    let (head, page) = text.split_once(") at page ")?;
    let number = |name: &str| digits(head.split_once(name)?.1)?.parse::<u32>().ok();
    let client = page.split_once(" from '").and_then(|(_, rest)| rest.split_once('\'')).map(|(name, _)| name.trim());
    Some(M::OldFault {
        address: digits(page)?.parse::<u64>().ok()?.checked_mul(4096)?,
        vmid: number("vmid ").and_then(|vmid| u8::try_from(vmid).ok()),
        pasid: number("pasid "),
        client: client.filter(|name| !name.is_empty()),
    })
}

/// Parses `VM_CONTEXT1_PROTECTION_FAULT_ADDR   0x00102F3D` of GFX6 to GFX8, which is a page.
fn old_address(text: &str) -> Option<Message<'_>> {
    let page = hexadecimal(text.strip_prefix("VM_CONTEXT1_PROTECTION_FAULT_ADDR")?.trim())?;
    Some(M::FaultAddress { address: page.checked_mul(4096)? })
}

/// Parses a status register of a page fault: before GFX9 it belongs to a context, later to the L2 of a hub.
fn status(text: &str) -> Option<Message<'_>> {
    let (name, value) = text.split_once("PROTECTION_FAULT_STATUS")?;
    let value = value.trim_start_matches([':', ' ', '\t']);
    let status = hexadecimal(value.split_whitespace().next()?).and_then(|value| u32::try_from(value).ok())?;
    let is_old = name == "VM_CONTEXT1_";
    (is_old || name.ends_with("VM_L2_")).then_some(M::FaultStatus { status, is_gfx9: name == "VM_L2_", is_old })
}

/// Parses a hexadecimal number with or without 0x.
pub(super) fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| u64::from_str_radix(digits, 16).ok())?
}

/// Returns the last whole number of a text.
fn last_number(text: &str) -> Option<i32> {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '-';
    text.split(|letter: char| !is_part(letter)).rev().find_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_may_contain_anything() {
        let process = |text| match Message::driver(text) {
            Some(M::Process(process)) => (process.name, process.pid, process.thread),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(
            process("Process a pid 7 thread b pid 1 pid 12 thread c pid 13"),
            ("a pid 7 thread b pid 1".into(), 12, "c".into())
        );
        assert_eq!(process("Process information: process  pid 0 thread  pid 0"), (String::new(), 0, String::new()));
        assert_eq!(process("Process GPU reset begin! pid 5 thread x pid 5").0, "GPU reset begin!");
    }

    #[test]
    fn faults_of_all_generations_are_read() {
        let read = |text| Message::driver(text).unwrap();
        let M::Fault { hub, vmid, pasid, is_retry, process } = read(
            "[gfxhub0] retry page fault (src_id:0 ring:0 vmid:3 pasid:32771, for process app pid 4400 thread app:cs0 pid 4411)",
        ) else {
            panic!()
        };
        assert_eq!((hub, vmid, pasid, is_retry), ("gfxhub0", Some(3), Some(32771), true));
        assert_eq!(process.map(|process| (process.name, process.pid)), Some(("app".into(), 4400)));
        assert_eq!(
            read("VM fault (0x02, vmid 3, pasid 32770) at page 1048833, read from 'TC4' (0x54433400) (68)"),
            M::OldFault { address: 0x1_0010_1000, vmid: Some(3), pasid: Some(32_770), client: Some("TC4") }
        );
        assert_eq!(read("VM_CONTEXT1_PROTECTION_FAULT_ADDR   0x00102F3D"), M::FaultAddress { address: 0x1_02f3_d000 });
        assert_eq!(
            read("VM_CONTEXT1_PROTECTION_FAULT_STATUS 0x06044002"),
            M::FaultStatus { status: 0x0604_4002, is_gfx9: false, is_old: true }
        );
        assert_eq!(
            read("MMVM_L2_PROTECTION_FAULT_STATUS:0x00501031"),
            M::FaultStatus { status: 0x0050_1031, is_gfx9: false, is_old: false }
        );
    }

    #[test]
    fn no_message_cut_anywhere_is_trouble() {
        for whole in [
            "ring gfx_0.0.0 timeout, signaled seq=166926, emitted seq=166928",
            "[gfxhub] page fault (src_id:0 ring:40 vmid:0 pasid:0 for process é pid 1 thread é pid 2)",
            "SMU: I'm not done with your previous command: SMN_C2PMSG_66:0x00000012 SMN_C2PMSG_82:0x00000005",
            "reset compute queue (1:1:0)",
            "VM fault (0x02, vmid 3, pasid 32770) at page 99999999999999999999, read",
            "psp gfx command UNLOAD_TA(0x2) failed and response status is (0x117)",
        ] {
            (0..=whole.len()).filter(|&len| whole.is_char_boundary(len)).for_each(|len| {
                let _ = Message::driver(&whole[..len]);
            });
        }
    }
}
