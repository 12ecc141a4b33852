//! Kernel structures as JSON objects: a key for each field, by its C name.

use amdgpu_uapi::{DevInfo, HeapInfo, InfoFirmware, InfoHwIp, Layout};
use serde_json::{Map, Value};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{error::CaptureError, json::Node};

/// A kernel structure that captures contain.
pub(super) trait Recorded: Layout + FromBytes + IntoBytes + Immutable {
    /// The names of the fields that have no name in C, in order.
    const UNNAMED: &'static [&'static str] = &[];
    /// The required fields. Other fields are zero if they are missing.
    const REQUIRED: &'static [&'static str];
    /// The fields of 32 bits that are written in hexadecimal. All fields of 64 bits are.
    const HEXADECIMAL: &'static [&'static str] = &[];
}

impl Recorded for DevInfo {
    const UNNAMED: &'static [&'static str] = &["pad", "userq_ip_mask"];
    const REQUIRED: &'static [&'static str] = &[
        "device_id",
        "external_rev",
        "family",
        "num_shader_engines",
        "num_shader_arrays_per_engine",
        "gpu_counter_freq",
        "virtual_address_offset",
        "virtual_address_max",
        "virtual_address_alignment",
        "pte_fragment_size",
        "gart_page_size",
    ];
    const HEXADECIMAL: &'static [&'static str] = &[
        "device_id",
        "chip_rev",
        "external_rev",
        "pci_rev",
        "cu_ao_mask",
        "cu_bitmap",
        "cu_ao_bitmap",
        "enabled_rb_pipes_mask",
        "enabled_rb_pipes_mask_hi",
        "vce_harvest_config",
        "pa_sc_tile_steering_override",
        "userq_ip_mask",
    ];
}

impl Recorded for HeapInfo {
    const REQUIRED: &'static [&'static str] = &["total_heap_size"];
}

impl Recorded for InfoHwIp {
    const REQUIRED: &'static [&'static str] = &["hw_ip_version_major", "available_rings"];
    const HEXADECIMAL: &'static [&'static str] = &["available_rings", "ip_discovery_version"];
}

impl Recorded for InfoFirmware {
    const REQUIRED: &'static [&'static str] = &["ver"];
}

/// The numbers of rows and columns of the fields that are not plain numbers: bitmaps by shader engine and array.
const BITMAP: usize = 4;

/// Returns the names of the fields and their positions.
fn fields<T: Recorded>() -> impl Iterator<Item = (&'static str, std::ops::Range<usize>)> {
    let mut unnamed = T::UNNAMED.iter();
    T::FIELDS.iter().enumerate().map(move |(index, &(name, offset))| {
        let name = if name.is_empty() { unnamed.next().copied().unwrap_or_default() } else { name };
        (name, offset..T::FIELDS.get(index + 1).map_or(T::SIZE, |&(_, next)| next))
    })
}

/// Reads a structure.
pub(super) fn read<T: Recorded>(node: &Node<'_>) -> Result<T, CaptureError> {
    let mut bytes = Vec::with_capacity(T::SIZE);
    for (name, place) in fields::<T>() {
        let value = if T::REQUIRED.contains(&name) { Some(node.need(name)?) } else { node.get(name)? };
        match value {
            None => bytes.resize(place.end, 0),
            Some(value) => read_field(&value, place.len(), &mut bytes)?,
        }
    }
    T::read_from_bytes(&bytes).map_err(|_| CaptureError::Missing { key: node.key() })
}

fn read_field(value: &Node<'_>, len: usize, bytes: &mut Vec<u8>) -> Result<(), CaptureError> {
    match len {
        4 => bytes.extend(value.word()?.to_le_bytes()),
        8 => bytes.extend(value.number(u64::BITS)?.to_le_bytes()),
        _ => {
            for row in value.list(BITMAP, BITMAP)? {
                for cell in row.list(BITMAP, BITMAP)? {
                    bytes.extend(cell.word()?.to_le_bytes());
                }
            }
        }
    }
    Ok(())
}

/// Writes a structure.
pub(super) fn write<T: Recorded>(structure: &T) -> Value {
    let bytes = structure.as_bytes();
    let mut object = Map::new();
    for (name, place) in fields::<T>() {
        let field = bytes.get(place).unwrap_or_default();
        let is_hexadecimal = T::HEXADECIMAL.contains(&name);
        object.insert(name.to_owned(), write_field(field, is_hexadecimal));
    }
    Value::Object(object)
}

fn write_field(field: &[u8], is_hexadecimal: bool) -> Value {
    if let Ok(word) = field.try_into().map(u32::from_le_bytes) {
        return if is_hexadecimal { hexadecimal(word.into()) } else { word.into() };
    }
    if let Ok(number) = field.try_into().map(u64::from_le_bytes) {
        return hexadecimal(number);
    }
    let cells = |row: &[u8]| row.chunks(size_of::<u32>()).map(|cell| write_field(cell, true)).collect();
    field.chunks(BITMAP * size_of::<u32>()).map(|row| Value::Array(cells(row))).collect()
}

/// Writes a number in hexadecimal.
pub(super) fn hexadecimal(number: u64) -> Value {
    format!("{number:#x}").into()
}
