//! Messages of `s_sendmsg`.

use std::fmt::{self, Write};

use amdgpu_hw::GfxLevel;

/// The operations of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operations {
    /// The message has no operation.
    None,
    /// Operations of the geometry stage, with a stream.
    Geometry,
    /// Operations of the trap handler.
    System,
}

/// A message: number, name, the generations that have it, its operations.
type Message = (u32, &'static str, GfxLevel, GfxLevel, Operations);

const MESSAGES: [Message; 22] = {
    use GfxLevel::{Gfx6, Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx11, Gfx11_5, Gfx12};
    use Operations::{Geometry, None, System};
    [
        (1, "MSG_INTERRUPT", Gfx6, Gfx12, None),
        (2, "MSG_GS", Gfx6, Gfx10_3, Geometry),
        (2, "MSG_HS_TESSFACTOR", Gfx11, Gfx12, None),
        (3, "MSG_GS_DONE", Gfx6, Gfx10_3, Geometry),
        (3, "MSG_DEALLOC_VGPRS", Gfx11, Gfx12, None),
        (4, "MSG_SAVEWAVE", Gfx8, Gfx10_3, None),
        (5, "MSG_STALL_WAVE_GEN", Gfx9, Gfx11_5, None),
        (6, "MSG_HALT_WAVES", Gfx9, Gfx11_5, None),
        (7, "MSG_ORDERED_PS_DONE", Gfx9, Gfx10_3, None),
        (8, "MSG_EARLY_PRIM_DEALLOC", Gfx9, Gfx10_3, None),
        (9, "MSG_GS_ALLOC_REQ", Gfx9, Gfx12, None),
        (10, "MSG_GET_DOORBELL", Gfx9, Gfx10_3, None),
        (11, "MSG_GET_DDID", Gfx10, Gfx10_3, None),
        (15, "MSG_SYSMSG", Gfx6, Gfx10_3, System),
        (128, "MSG_RTN_GET_DOORBELL", Gfx11, Gfx12, None),
        (129, "MSG_RTN_GET_DDID", Gfx11, Gfx12, None),
        (130, "MSG_RTN_GET_TMA", Gfx11, Gfx12, None),
        (131, "MSG_RTN_GET_REALTIME", Gfx11, Gfx12, None),
        (132, "MSG_RTN_SAVE_WAVE", Gfx11, Gfx12, None),
        (133, "MSG_RTN_GET_TBA", Gfx11, Gfx12, None),
        (134, "MSG_RTN_GET_TBA_TO_PC", Gfx11, Gfx12, None),
        (135, "MSG_RTN_GET_SE_AID_ID", Gfx12, Gfx12, None),
    ]
};

/// The operations of the geometry stage, by their number.
const GEOMETRY: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];

/// The operations of the trap handler, by their number.
const SYSTEM: [&str; 5] =
    ["", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"];

/// Returns the name of an operation that a generation has.
fn operation_name(level: GfxLevel, message: &Message, operation: u32) -> Option<&'static str> {
    let name = match message.4 {
        Operations::None => None,
        // Only the message that ends the stage has an empty operation.
        Operations::Geometry if operation == 0 && message.0 == 2 => None,
        Operations::Geometry => GEOMETRY.get(operation as usize),
        Operations::System if operation == 3 && level >= GfxLevel::Gfx9 => None,
        Operations::System => SYSTEM.get(operation as usize),
    };
    name.copied().filter(|name| !name.is_empty())
}

/// Writes a message by name, else by its fields, and as a number if it has bits that no field has.
pub(super) fn write(level: GfxLevel, value: u32, out: &mut String) -> fmt::Result {
    let (number, operation, stream) =
        if level >= GfxLevel::Gfx11 { (value & 0xff, 0, 0) } else { (value & 0xf, value >> 4 & 7, value >> 8 & 3) };
    if number | operation << 4 | stream << 8 != value {
        return write!(out, "{value}");
    }
    let known = MESSAGES.iter().find(|message| message.0 == number && (message.2..=message.3).contains(&level));
    if let Some(message) = known {
        let (name, action) = (message.1, operation_name(level, message, operation));
        match (message.4, action) {
            (Operations::None, _) if operation == 0 && stream == 0 => return write!(out, "sendmsg({name})"),
            (Operations::Geometry, Some(action)) if operation != 0 => {
                return write!(out, "sendmsg({name}, {action}, {stream})");
            }
            (Operations::Geometry | Operations::System, Some(action)) if stream == 0 => {
                return write!(out, "sendmsg({name}, {action})");
            }
            _ => {}
        }
    }
    write!(out, "sendmsg({number}, {operation}, {stream})")
}

/// Returns the value of a message's arguments, which are names or numbers.
pub(crate) fn parse(level: GfxLevel, arguments: &[&str]) -> Option<u32> {
    let (first, rest) = arguments.split_first()?;
    let known = MESSAGES.iter().find(|message| message.1 == *first && (message.2..=message.3).contains(&level));
    let number = known.map(|message| message.0).or_else(|| first.parse().ok())?;
    let operation = match rest.first() {
        None => 0,
        Some(name) => (0..8)
            .find(|operation| known.and_then(|message| operation_name(level, message, *operation)) == Some(*name))
            .or_else(|| name.parse().ok())?,
    };
    let stream = rest.get(1).map_or(Some(0), |stream| stream.parse().ok())?;
    match (number, operation, stream, rest.len()) {
        (0..256, 0, 0, ..=2) if level >= GfxLevel::Gfx11 => Some(number),
        (0..16, 0..8, 0..4, ..=2) if level < GfxLevel::Gfx11 => Some(number | operation << 4 | stream << 8),
        _ => None,
    }
}
