//! Exports: text to fields.

use super::{
    encoder::{Encoder, Misfit},
    parse::register,
};
use crate::{
    Field,
    text::{EXPORT_MODIFIERS, target_number},
};

impl Encoder {
    /// Sets the fields of an export from the text after its name.
    pub(super) fn export(&mut self, rest: &str) -> Result<(), Misfit> {
        let misfit = |text: &str| Misfit::Operand(text.to_owned());
        let mut words = rest.split([' ', ',']).filter(|word| !word.is_empty());
        let target = words.next().unwrap_or_default();
        let number = target_number(self.level, target).ok_or_else(|| misfit(target))?;
        self.fit(Field::Tgt, number)?;
        let sources: Vec<&str> = words.by_ref().take(4).collect();
        if sources.len() < 4 {
            return Err(misfit(rest));
        }
        for word in words {
            let (_, field) = EXPORT_MODIFIERS
                .iter()
                .find(|(name, _)| *name == word)
                .ok_or_else(|| Misfit::Modifier(word.to_owned()))?;
            self.fit(*field, 1)?;
        }
        let compressed = self.get(Field::Compr) != 0;
        let fields = [Field::Vsrc0, Field::Vsrc1, Field::Vsrc2, Field::Vsrc3];
        let mut values = [None; 4];
        let mut enabled = 0;
        for (index, source) in sources.into_iter().enumerate() {
            if source == "off" {
                continue;
            }
            let (value, _) = register(source, "v").filter(|(_, dwords)| *dwords == 1).ok_or_else(|| misfit(source))?;
            // Both components of a compressed source are in one register.
            let at = if compressed { index / 2 } else { index };
            if values[at].is_some_and(|known| known != value) {
                return Err(misfit(source));
            }
            values[at] = Some(value);
            enabled |= 1 << index;
        }
        for (field, value) in fields.into_iter().zip(values) {
            self.fit(field, value.unwrap_or(0))?;
        }
        self.fit(Field::En, enabled)
    }
}
