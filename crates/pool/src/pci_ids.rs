//! The kind of a GPU by its PCI device ID, for programs that may not open the GPU.

/// PCI device IDs of APUs, whose VRAM is a part of the machine's memory, as ranges of first and last ID.
///
/// Source: Linux 6.12 `amdgpu_drv.c`, `pciidlist`, the rows with `AMD_IS_APU`; for chips that describe themselves by IP discovery,
/// which the driver matches by class, Mesa 25.0.7 `src/amd/common/amd_family.c` and the names in libdrm's `amdgpu.ids`.
const APUS: &[(u32, u32)] = &[
    (0x1114, 0x1114), // Krackan Point
    (0x1304, 0x131d), // Kaveri
    (0x13c0, 0x13c0), // Granite Ridge
    (0x13db, 0x13db), // Cyan Skillfish
    (0x13f9, 0x13fe), // Cyan Skillfish
    (0x1435, 0x1435), // Van Gogh
    (0x143f, 0x143f), // Cyan Skillfish
    (0x1506, 0x1506), // Mendocino
    (0x150e, 0x150e), // Strix Point
    (0x1586, 0x1586), // Strix Halo
    (0x15bf, 0x15bf), // Phoenix
    (0x15c8, 0x15c8), // Phoenix 2
    (0x15d8, 0x15d8), // Picasso, Raven 2
    (0x15dd, 0x15dd), // Raven
    (0x15e7, 0x15e7), // Barcelo
    (0x1636, 0x1636), // Renoir
    (0x1638, 0x1638), // Cezanne
    (0x163f, 0x163f), // Van Gogh
    (0x164c, 0x164c), // Lucienne
    (0x164d, 0x164e), // Rembrandt, Raphael
    (0x1681, 0x1681), // Rembrandt
    (0x1900, 0x1902), // Hawk Point, Krackan Point
    (0x74a0, 0x74a0), // MI300A
    (0x9830, 0x983f), // Kabini
    (0x9850, 0x985f), // Mullins
    (0x9870, 0x9877), // Carrizo
    (0x98e4, 0x98e4), // Stoney
];

/// PCI device IDs of discrete GPUs that the driver knows, as ranges of first and last ID, which contain no APU.
///
/// Source: as for [`APUS`], the rows without `AMD_IS_APU`.
const DISCRETE: &[(u32, u32)] = &[
    (0x6600, 0x667f), // Oland, Bonaire, Hainan
    (0x66a0, 0x66af), // Vega 20
    (0x6780, 0x679f), // Tahiti
    (0x67a0, 0x67be), // Hawaii
    (0x67c0, 0x67ff), // Polaris 10 and 11
    (0x6800, 0x683f), // Pitcairn, Verde
    (0x6860, 0x687f), // Vega 10
    (0x6900, 0x6907), // Topaz
    (0x6920, 0x6939), // Tonga
    (0x694c, 0x694f), // Vega M
    (0x6980, 0x699f), // Polaris 12
    (0x69a0, 0x69af), // Vega 12
    (0x6fdf, 0x6fdf), // Polaris 20
    (0x7300, 0x730f), // Fiji
    (0x7310, 0x731f), // Navi 10
    (0x7340, 0x734f), // Navi 14
    (0x7360, 0x7362), // Navi 12
    (0x7388, 0x739f), // Arcturus
    (0x73a0, 0x73ff), // Navi 21, 22 and 23
    (0x7408, 0x7410), // Aldebaran
    (0x7420, 0x743f), // Navi 24
    (0x7440, 0x745f), // Navi 31
    (0x7460, 0x747f), // Navi 32
    (0x7480, 0x749f), // Navi 33
    (0x74a1, 0x74bd), // MI300X
    (0x7550, 0x755f), // Navi 48
    (0x7590, 0x759f), // Navi 44
    (0x75a0, 0x75a3), // MI350
];

/// Returns `true` if the PCI device ID of AMD is that of an APU, `false` if it is that of a discrete GPU, and `None` if the tables
/// do not have it.
pub fn is_apu(device_id: u32) -> Option<bool> {
    let is_in = |ranges: &[(u32, u32)]| ranges.iter().any(|(first, last)| (*first..=*last).contains(&device_id));
    if is_in(APUS) { Some(true) } else { is_in(DISCRETE).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_both_kinds_are_told_apart_and_others_are_unknown() {
        for (id, expected) in [
            (0x67df, Some(false)),
            (0x13fe, Some(true)),
            (0x150e, Some(true)),
            (0x73ff, Some(false)),
            (0x74a0, Some(true)),
            (0x74a1, Some(false)),
            (0x7590, Some(false)),
            (0x1636, Some(true)),
            (0x0001, None),
        ] {
            assert_eq!(is_apu(id), expected, "{id:#06x}");
        }
    }

    #[test]
    fn no_id_is_in_both_tables_and_the_tables_are_in_order() {
        for ranges in [APUS, DISCRETE] {
            assert!(ranges.iter().all(|(first, last)| first <= last));
            assert!(ranges.is_sorted_by(|one, next| one.1 < next.0));
        }
        assert!(
            (0..=0xffff).all(|id| !DISCRETE.iter().any(|(a, b)| (*a..=*b).contains(&id)) || is_apu(id) == Some(false))
        );
    }
}
