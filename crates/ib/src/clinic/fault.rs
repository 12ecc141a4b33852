//! The meaning of a page fault's status.

use amdgpu_winsys::winsys::{FaultAccess, FaultHub, FaultStatus, GfxLevel};

use super::incident::{PageFault, StatusLayout};

/// The bits of PERMISSION_FAULTS, which name what is missing.
const PERMISSIONS: [(u8, &str); 4] = [(1, "valid"), (2, "read"), (4, "write"), (8, "execute")];

/// The kind of engine that accessed the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accessor {
    /// Vector memory instructions of a shader.
    ShaderMemory,
    /// Scalar loads of a shader.
    ShaderScalar,
    /// The fetch of a shader's instructions.
    ShaderCode,
    /// Colour and depth output, or another fixed part of drawing.
    FixedFunction,
    /// A command processor.
    Commands,
    /// A copy engine.
    Copy,
    /// A video engine.
    Video,
    /// The display.
    Display,
    /// A firmware's processor.
    Firmware,
    /// Another part.
    Other,
}

impl PageFault {
    /// Returns the decoded status; `None` if no fault is latched, that is, the status is 0 or absent.
    pub(crate) fn decoded(&self) -> Option<FaultStatus> {
        let (status, _) = self.status.filter(|(status, _)| *status != 0)?;
        Some(FaultStatus::new(status, self.level()))
    }

    /// Returns a generation with the layout of the status.
    fn level(&self) -> GfxLevel {
        match self.status.map(|(_, layout)| layout) {
            Some(StatusLayout::Old) => GfxLevel::Gfx8,
            Some(StatusLayout::Gfx9) => GfxLevel::Gfx9,
            _ => GfxLevel::Gfx10,
        }
    }

    /// Returns the name of the client: as the kernel prints it, or by its number.
    pub(crate) fn client_name(&self) -> Option<String> {
        let by_number = || {
            let hub = if self.hub.starts_with("gfx") { FaultHub::Graphics(0) } else { FaultHub::Multimedia(0) };
            self.decoded()?.client_name(self.level(), hub).map(str::to_owned)
        };
        self.client.clone().or_else(by_number)
    }

    /// Returns what accessed the memory.
    pub(crate) fn accessor(&self) -> Option<Accessor> {
        // The kernel takes the client from the status, which may be none at all or that of another fault.
        if self.status.is_some() && self.own_status().is_none() {
            return None;
        }
        let name = self.client_name()?;
        let is_any = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        if self.status.is_some_and(|(_, layout)| layout == StatusLayout::Old) && is_any(&["TC"]) {
            // GFX6 to GFX8 name the channel of the texture cache.
            return Some(Accessor::ShaderMemory);
        }
        let is_fixed = ["CB", "DB", "CB/DB", "IA", "WD", "GE1", "GE2", "PA"].contains(&name.as_str());
        // Nothing draws in ROCm's address spaces: a field that is 0 names the first client of the list.
        if is_fixed && self.is_rocm() {
            return None;
        }
        Some(match name.as_str() {
            "TCP" => Accessor::ShaderMemory,
            "SQC (data)" => Accessor::ShaderScalar,
            "SQC (inst)" => Accessor::ShaderCode,
            "CPF" | "CPC" | "CPG" => Accessor::Commands,
            _ if is_any(&["SDM"]) => Accessor::Copy,
            _ if is_any(&["VCN", "UVD", "VCE", "JPEG"]) => Accessor::Video,
            _ if is_any(&["DCE", "DCN", "DMC"]) => Accessor::Display,
            _ if is_any(&["MP0", "MP1", "RLC"]) => Accessor::Firmware,
            _ if is_fixed => Accessor::FixedFunction,
            _ => Accessor::Other,
        })
    }

    /// Returns the decoded status if it is this fault's.
    pub(crate) fn own_status(&self) -> Option<FaultStatus> {
        self.decoded().filter(|_| !self.is_mismatch())
    }

    /// Returns `true` if the status belongs to an earlier fault, because its VMID is another one.
    pub(crate) fn is_mismatch(&self) -> bool {
        self.decoded().zip(self.vmid).is_some_and(|(status, vmid)| status.vmid != vmid)
    }

    /// Returns `true` if the page was mapped and only the permission to write was missing.
    pub(crate) fn is_read_only(&self) -> bool {
        self.own_status().is_some_and(|status| status.permissions == 4)
    }

    /// Returns `true` if the address is near 0, where no driver maps anything.
    pub(crate) fn is_near_null(&self) -> bool {
        const NEAR: u64 = 1 << 16;
        self.address.is_some_and(|address| address < NEAR)
    }

    /// Returns `true` if instructions were fetched near address 0.
    pub(crate) fn is_null_code(&self) -> bool {
        self.accessor() == Some(Accessor::ShaderCode) && self.is_near_null()
    }

    /// Returns `true` if the address space is one of ROCm's, unless a thread of a graphics driver used it.
    ///
    /// Source: Linux `gmc_vN_0.c`, `first_kfd_vmid`: 8, and lower where no graphics rings of the kernel are.
    pub(crate) fn is_rocm(&self) -> bool {
        let is_graphics = self.process.as_ref().is_some_and(|process| process.thread.contains(":cs"));
        self.vmid.is_some_and(|vmid| vmid >= 8) && !is_graphics
    }

    /// Returns the access as words, such as "read of an unmapped page".
    pub(crate) fn access(&self) -> String {
        let Some(status) = self.own_status() else {
            let why = if self.is_mismatch() {
                "the status belongs to an earlier fault"
            } else {
                "its status was not recorded"
            };
            return format!("access ({why})");
        };
        let how = match status.access {
            FaultAccess::Read => "read",
            FaultAccess::Write => "write",
            FaultAccess::Atomic => "atomic operation",
        };
        let page = match status.permissions {
            permissions if permissions & 1 == 1 => " of a page without a mapping",
            4 => " of a page that is mapped read-only",
            _ => "",
        };
        format!("{how}{page}")
    }

    /// Returns all of it in one line.
    pub(crate) fn text(&self) -> String {
        let address = self.address.map_or("an unknown address".to_owned(), |address| format!("{address:#x}"));
        let mut parts = vec![format!("{} at {address}", self.access())];
        if let (Some(name), Some(accessor)) = (self.client_name(), self.accessor()) {
            parts.push(format!("by {name}{}", accessor.explained()));
        }
        parts.push(self.hub.clone());
        let vmid = self.vmid.or_else(|| self.decoded().map(|status| status.vmid));
        parts.extend(
            vmid.map(|vmid| if vmid == 0 { "VMID 0 (the kernel's)".to_owned() } else { format!("VMID {vmid}") }),
        );
        if let Some((status, _)) = self.status {
            let missing = self.decoded().map(|status| {
                let names = PERMISSIONS.iter().filter(|(bit, _)| status.permissions & bit != 0).map(|(_, name)| *name);
                names.collect::<Vec<_>>().join(" + ")
            });
            let missing = missing.filter(|missing| !missing.is_empty()).map(|missing| format!(", missing: {missing}"));
            parts.push(format!("status {status:#010x}{}", missing.unwrap_or_default()));
        }
        if self.is_mismatch() {
            parts.push("the status belongs to an earlier fault: its VMID is another one".to_owned());
        }
        if self.count > 1 {
            parts.push(format!("{} times", self.count));
        }
        parts.join(", ")
    }
}

impl Accessor {
    const fn explained(self) -> &'static str {
        match self {
            Self::ShaderMemory => " (a shader's buffer or image access)",
            Self::ShaderScalar => " (a shader's scalar load)",
            Self::ShaderCode => " (fetch of a shader's instructions)",
            Self::FixedFunction => " (fixed function)",
            Self::Commands => " (command processor)",
            Self::Copy => " (copy engine)",
            Self::Video => " (video engine)",
            Self::Display => " (display)",
            Self::Firmware => " (a firmware)",
            Self::Other => "",
        }
    }

    /// Returns `true` if a shader accessed the memory.
    pub(crate) const fn is_shader(self) -> bool {
        matches!(self, Self::ShaderMemory | Self::ShaderScalar | Self::ShaderCode)
    }
}
