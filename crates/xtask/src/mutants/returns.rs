//! The values that stand in for what a function returns.

use syn::{GenericArgument, Path, PathArguments, ReturnType, Type};

/// No function gets more than this many.
const LIMIT: usize = 6;

/// The reason why a function returns nothing that could be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NoValue {
    /// `impl Trait`: two values would be of two types.
    ImplTrait,
    /// `!`.
    Never,
}

/// Returns expressions of the type, as cargo-mutants chooses them. Some may not compile.
pub(crate) fn values(output: &ReturnType) -> Result<Vec<String>, NoValue> {
    match output {
        ReturnType::Default => Ok(vec![String::new()]),
        ReturnType::Type(_, ty) => match &**ty {
            Type::ImplTrait(_) => Err(NoValue::ImplTrait),
            Type::Never(_) => Err(NoValue::Never),
            ty => {
                let mut values = of(ty);
                values.truncate(LIMIT);
                Ok(values)
            }
        },
    }
}

fn of(ty: &Type) -> Vec<String> {
    match ty {
        Type::Path(path) if path.qself.is_none() => of_path(&path.path),
        Type::Paren(inner) => of(&inner.elem),
        Type::Group(inner) => of(&inner.elem),
        Type::Reference(to) => match &*to.elem {
            Type::Path(path) if path.path.is_ident("str") => strings(&["\"\"", "\"xyzzy\""]),
            Type::Slice(slice) => {
                let mut values = strings(&["Vec::leak(Vec::new())"]);
                values.extend(of(&slice.elem).iter().map(|value| format!("Vec::leak(vec![{value}])")));
                values
            }
            to => around(of(to), "Box::leak(Box::new(", "))"),
        },
        Type::Tuple(tuple) => tuple.elems.iter().fold(strings(&["("]), |heads, ty| {
            let tails = of(ty);
            heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail},"))).take(LIMIT).collect()
        }),
        Type::Array(array) => match &array.len {
            syn::Expr::Lit(len) => {
                let syn::Lit::Int(len) = &len.lit else { return default() };
                of(&array.elem).iter().map(|value| format!("[{value}; {len}]")).collect()
            }
            _ => default(),
        },
        _ => default(),
    }
    .into_iter()
    .map(|value| if matches!(ty, Type::Tuple(_)) { format!("{value})") } else { value })
    .collect()
}

fn of_path(path: &Path) -> Vec<String> {
    let Some(last) = path.segments.last() else { return default() };
    let arguments: Vec<&Type> = match &last.arguments {
        PathArguments::AngleBracketed(list) => {
            list.args.iter().filter_map(|a| if let GenericArgument::Type(ty) = a { Some(ty) } else { None }).collect()
        }
        _ => Vec::new(),
    };
    let inner = || arguments.first().map_or_else(default, |ty| of(ty));
    match last.ident.to_string().as_str() {
        "bool" => strings(&["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => strings(&["0", "1"]),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => strings(&["0", "1", "-1"]),
        "f32" | "f64" => strings(&["0.0", "1.0", "-1.0"]),
        "String" => strings(&["String::new()", "String::from(\"xyzzy\")"]),
        "NonZeroU8" | "NonZeroU16" | "NonZeroU32" | "NonZeroU64" | "NonZeroUsize" | "NonZero" => {
            strings(&["1.try_into().unwrap()"])
        }
        "Option" => {
            let mut values = strings(&["None"]);
            values.extend(around(inner(), "Some(", ")"));
            values
        }
        "Result" => around(inner(), "Ok(", ")"),
        "Vec" => {
            let mut values = strings(&["vec![]"]);
            values.extend(around(inner(), "vec![", "]"));
            values
        }
        "Box" => around(inner(), "Box::new(", ")"),
        "Arc" => around(inner(), "std::sync::Arc::new(", ")"),
        "Rc" => around(inner(), "std::rc::Rc::new(", ")"),
        _ => default(),
    }
}

fn around(values: Vec<String>, before: &str, after: &str) -> Vec<String> {
    values.into_iter().map(|value| format!("{before}{value}{after}")).collect()
}

fn default() -> Vec<String> {
    strings(&["Default::default()"])
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_source(source: &str) -> Vec<String> {
        values(&syn::parse_str(source).unwrap()).unwrap()
    }

    #[test]
    fn values_follow_the_type() {
        assert_eq!(of_source(""), [""]);
        assert_eq!(of_source("-> bool"), ["true", "false"]);
        assert_eq!(of_source("-> io::Result<()>"), ["Ok(())"]);
        assert_eq!(of_source("-> Option<u32>"), ["None", "Some(0)", "Some(1)"]);
        assert_eq!(of_source("-> Result<(u64, bool), E>").len(), 4);
        assert_eq!(of_source("-> &[u8]"), ["Vec::leak(Vec::new())", "Vec::leak(vec![0])", "Vec::leak(vec![1])"]);
        assert_eq!(of_source("-> Vec<Thing>"), ["vec![]", "vec![Default::default()]"]);
        assert_eq!(of_source("-> [u32; 2]"), ["[0; 2]", "[1; 2]"]);
    }
}
