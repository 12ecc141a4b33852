//! Options that select the operations to lower.

bitflags::bitflags! {
    /// The groups of operations to lower, named after `nir_lower_*` of NIR's `nir_lower_int64_options`.
    ///
    /// Source: `src/compiler/nir/nir.h`, for the groups; `src/amd/common/ac_nir.c` (25.0.7) and
    /// `src/amd/vulkan/radv_shader.c` (22.3.6) for the sets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Options: u32 {
        /// Lowers multiplication (`imul64`).
        const IMUL = 1 << 0;
        /// Lowers the high half of products (`imul_high64`).
        const IMUL_HIGH = 1 << 1;
        /// Lowers 64-bit products of 32-bit values (`imul_2x32_64`).
        const IMUL_2X32 = 1 << 2;
        /// Lowers division and remainder (`divmod64`).
        const DIVMOD = 1 << 3;
        /// Lowers minimum and maximum (`minmax64`).
        const MINMAX = 1 << 4;
        /// Lowers the absolute value (`iabs64`).
        const IABS = 1 << 5;
        /// Lowers signed saturating addition and subtraction (`iadd_sat64`).
        const IADD_SAT = 1 << 6;
        /// Lowers conversions between integer sizes, floating point and truth values (`conv64`).
        const CONV = 1 << 7;
        /// Lowers addition and subtraction (`iadd64`).
        const IADD = 1 << 8;
        /// Lowers negation (`ineg64`).
        const INEG = 1 << 9;
        /// Lowers the sign function (`isign64`).
        const ISIGN = 1 << 10;
        /// Lowers comparisons (`icmp64`).
        const ICMP = 1 << 11;
        /// Lowers bitwise operations (`logic64`).
        const LOGIC = 1 << 12;
        /// Lowers shifts (`shift64`).
        const SHIFT = 1 << 13;
        /// Lowers selection (`bcsel64`).
        const BCSEL = 1 << 14;
        /// Lowers the extraction of bytes and words (`extract64`).
        const EXTRACT = 1 << 15;
        /// Lowers the count of set bits (`bit_count64`).
        const BIT_COUNT = 1 << 16;
        /// Lowers the search for the highest set bit (`ufind_msb64`).
        const UFIND_MSB = 1 << 17;
        /// Lowers the search for the lowest set bit (`find_lsb64`).
        const FIND_LSB = 1 << 18;
        /// Lowers unsigned saturating subtraction (`usub_sat64`).
        const USUB_SAT = 1 << 19;
        /// Lowers unsigned saturating addition (`uadd_sat64`).
        const UADD_SAT = 1 << 20;

        /// The options that RADV set in Mesa 22.3.6.
        const SEED = Self::IMUL.bits() | Self::IMUL_HIGH.bits() | Self::IMUL_2X32.bits() | Self::DIVMOD.bits()
            | Self::MINMAX.bits() | Self::IABS.bits() | Self::IADD_SAT.bits();
        /// The options that RADV sets in Mesa 25.0.7.
        const RADV_25 = Self::SEED.bits() | Self::CONV.bits();
        /// Lowers all 64-bit operations.
        const ALL = (1 << 21) - 1;
        /// Lowers only operations without native instructions.
        const NONE = 0;
    }
}

impl Options {
    /// Returns the option with this name in NIR, without `nir_lower_`; `None` if there is none.
    pub fn by_name(name: &str) -> Option<Self> {
        let names = [
            ("imul64", Self::IMUL),
            ("imul_high64", Self::IMUL_HIGH),
            ("imul_2x32_64", Self::IMUL_2X32),
            ("divmod64", Self::DIVMOD),
            ("minmax64", Self::MINMAX),
            ("iabs64", Self::IABS),
            ("iadd_sat64", Self::IADD_SAT),
            ("conv64", Self::CONV),
            ("iadd64", Self::IADD),
            ("ineg64", Self::INEG),
            ("isign64", Self::ISIGN),
            ("icmp64", Self::ICMP),
            ("logic64", Self::LOGIC),
            ("shift64", Self::SHIFT),
            ("bcsel64", Self::BCSEL),
            ("extract64", Self::EXTRACT),
            ("bit_count64", Self::BIT_COUNT),
            ("ufind_msb64", Self::UFIND_MSB),
            ("find_lsb64", Self::FIND_LSB),
            ("usub_sat64", Self::USUB_SAT),
            ("uadd_sat64", Self::UADD_SAT),
        ];
        names.into_iter().find(|(known, _)| *known == name).map(|(_, option)| option)
    }
}
