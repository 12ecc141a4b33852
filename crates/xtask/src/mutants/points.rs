//! Finding the places of a file that can be mutated, in cargo-mutants' classes and two more: statements that are calls, and
//! 64-bit arithmetic cut to 32 bits.

use std::{collections::BTreeMap, ops::Range};

use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprMatch, ExprRepeat, ExprUnary, Item, Pat, Signature, Stmt,
    Token, UnOp,
    punctuated::Punctuated,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{
    mutant::{Form, Mutant, Site},
    returns::{self, NoValue},
};

/// Counts places that are left alone, by reason.
pub(crate) type Skipped = BTreeMap<&'static str, usize>;

/// A visitor that collects the sites of one file.
pub(crate) struct Points<'a> {
    file: &'a str,
    source: &'a str,
    mutants: &'a mut Vec<Mutant>,
    skipped: &'a mut Skipped,
    sites: Vec<Site>,
    alike: BTreeMap<(String, String, String), usize>,
    owner: Vec<String>,
    functions: Vec<String>,
    in_const_fn: bool,
    /// The reason why nothing here can be switched.
    off: Option<&'static str>,
}

/// Returns the sites of a file, outermost first, and adds their mutants to `mutants`.
pub(crate) fn collect(
    file: &str,
    source: &str,
    items: &[Item],
    mutants: &mut Vec<Mutant>,
    skipped: &mut Skipped,
) -> Vec<Site> {
    let mut points = Points {
        file,
        source,
        mutants,
        skipped,
        sites: Vec::new(),
        alike: BTreeMap::new(),
        owner: Vec::new(),
        functions: Vec::new(),
        in_const_fn: false,
        off: None,
    };
    for item in items {
        points.visit_item(item);
    }
    points.sites
}

/// Returns `true` for code that the library as shipped does not have.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| {
                    let condition = list.tokens.to_string().replace(' ', "");
                    ["test", "interleaved", "miri"].contains(&condition.as_str()) || condition.starts_with("all(test")
                })
    })
}

impl Points<'_> {
    fn text(&self, range: Range<usize>) -> String {
        one_line(&self.source[range])
    }

    /// Returns a piece of source as it can stand in other code: in parentheses, and on one line if comments allow it.
    fn operand(&self, expr: &Expr) -> String {
        let text = &self.source[bytes(expr)];
        let text = if text.contains("//") { format!("{text}\n") } else { one_line(text) };
        if matches!(expr, Expr::Paren(_) | Expr::Lit(_) | Expr::Path(_)) { text } else { format!("({text})") }
    }

    /// Adds a site; each variant is its code and what the report shows of it.
    fn add(&mut self, range: Range<usize>, form: Form, line: usize, original: &str, variants: Vec<(String, String)>) {
        if variants.is_empty() {
            return;
        }
        if let Some(reason) = self.off {
            *self.skipped.entry(reason).or_default() += variants.len();
            return;
        }
        let Ok(first) = u32::try_from(self.mutants.len() + 1) else { return };
        let function = self.function_name();
        let mut codes = Vec::new();
        for (number, (code, replacement)) in (first..).zip(variants) {
            let nth = self.alike.entry((function.clone(), original.to_owned(), replacement.clone())).or_default();
            self.mutants.push(Mutant {
                number,
                file: self.file.to_owned(),
                line,
                function: function.clone(),
                original: original.to_owned(),
                replacement,
                nth: *nth,
                in_const_fn: self.in_const_fn,
            });
            *nth += 1;
            codes.push(code);
        }
        self.sites.push(Site { range, form, first, variants: codes });
    }

    fn function_name(&self) -> String {
        let mut parts: Vec<&str> = self.owner.iter().map(String::as_str).collect();
        parts.extend(self.functions.iter().map(String::as_str));
        parts.join("::")
    }

    fn function(
        &mut self,
        attributes: &[Attribute],
        signature: &Signature,
        block: &Block,
        visit: impl FnOnce(&mut Self),
    ) {
        if is_for_tests(attributes) {
            return;
        }
        if signature.unsafety.is_some() {
            *self.skipped.entry("unsafe fn").or_default() += 1;
            return;
        }
        let outer = (self.in_const_fn, self.off);
        self.in_const_fn = signature.constness.is_some();
        self.functions.push(signature.ident.to_string());
        self.body(signature, block);
        visit(self);
        self.functions.pop();
        (self.in_const_fn, self.off) = outer;
    }

    fn body(&mut self, signature: &Signature, block: &Block) {
        if block.stmts.is_empty() {
            return;
        }
        let values = match returns::values(&signature.output) {
            Ok(values) => values,
            Err(NoValue::ImplTrait) => {
                *self.skipped.entry("returns impl Trait").or_default() += 1;
                return;
            }
            Err(NoValue::Never) => return,
        };
        let braces = block.brace_token.span;
        let body = self.text(braces.open().byte_range().end..braces.close().byte_range().start);
        let is_default =
            signature.ident == "default" && self.owner.last().is_some_and(|owner| owner.ends_with("Default>"));
        let variants = values
            .into_iter()
            .filter(|value| *value != body && !(is_default && value == "Default::default()"))
            .map(|value| {
                (value.clone(), if value.is_empty() { "return".to_owned() } else { format!("return {value}") })
            })
            .collect();
        let at = braces.open().byte_range().end;
        let original = match &signature.output {
            syn::ReturnType::Default => "the body".to_owned(),
            output @ syn::ReturnType::Type(..) => self.text(bytes(output)),
        };
        self.add(at..at, Form::Return, signature.ident.span().start().line, &original, variants);
    }

    fn arm(&mut self, arm: &Arm, wildcard: bool) {
        let line = arm.pat.span().start().line;
        if let Some((_, guard)) = &arm.guard {
            if !has_let(guard) {
                let original = format!("if {}", self.text(bytes(guard)));
                let variants = ["true", "false"].map(|value| (value.to_owned(), format!("if {value}")));
                self.add(bytes(guard), Form::Expression, line, &original, variants.into());
            }
        } else if wildcard && !matches!(arm.pat, Pat::Wild(_)) && arm.attrs.is_empty() {
            let pattern = bytes(&arm.pat);
            let original = format!("{} => ..", self.text(pattern.clone()));
            let gone = (String::new(), "no such arm".to_owned());
            self.add(pattern.end..pattern.end, Form::Arm, line, &original, vec![gone]);
        }
    }

    fn without(&mut self, reason: &'static str, visit: impl FnOnce(&mut Self)) {
        let outer = self.off;
        self.off = outer.or(Some(reason));
        visit(self);
        self.off = outer;
    }
}

impl<'ast> Visit<'ast> for Points<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Use(_) | Item::ExternCrate(_) | Item::Struct(_) | Item::Enum(_) | Item::Union(_) | Item::Type(_) => {
                return;
            }
            Item::Const(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Macro(item) => {
                if item.mac.path.is_ident("macro_rules") {
                    *self.skipped.entry("macro_rules").or_default() += 1;
                }
                return;
            }
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = self.text(bytes(&item.self_ty));
        let owner = match &item.trait_ {
            Some((_, path, _)) => format!("<{name} as {}>", self.text(bytes(path))),
            None => name,
        };
        self.owner.push(owner);
        visit::visit_item_impl(self, item);
        self.owner.pop();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.owner.push(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.owner.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block, |this| this.visit_block(&item.block));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block, |this| this.visit_block(&item.block));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &item.sig, block, |this| this.visit_block(block));
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.without("in a constant", |this| visit::visit_item_const(this, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.without("in a constant", |this| visit::visit_item_static(this, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.without("in a constant", |this| visit::visit_impl_item_const(this, item));
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.without("in a constant", |this| visit::visit_trait_item_const(this, item));
    }

    fn visit_expr_const(&mut self, expr: &'ast syn::ExprConst) {
        self.without("in a constant", |this| visit::visit_expr_const(this, expr));
    }

    fn visit_expr_repeat(&mut self, expr: &'ast ExprRepeat) {
        self.visit_expr(&expr.expr);
        self.without("in a constant", |this| this.visit_expr(&expr.len));
    }

    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Ok(arguments) = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            self.without("in a macro's arguments", |this| {
                arguments.iter().for_each(|argument| this.visit_expr(argument));
            });
        } else {
            *self.skipped.entry("in a macro's arguments").or_default() += 1;
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = statement {
            let call = if let Expr::Try(tried) = expr { &*tried.expr } else { expr };
            let attributes = match call {
                Expr::Call(call) => Some(&call.attrs),
                Expr::MethodCall(call) => Some(&call.attrs),
                _ => None,
            };
            if attributes.is_some_and(Vec::is_empty) {
                let range = bytes(statement);
                let original = self.text(range.clone());
                let gone = (String::new(), "no such statement".to_owned());
                self.add(range, Form::Statement, statement.span().start().line, &original, vec![gone]);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_match(&mut self, expr: &'ast ExprMatch) {
        self.visit_expr(&expr.expr);
        let wildcard = expr.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none());
        for arm in &expr.arms {
            self.arm(arm, wildcard);
            if let Some((_, guard)) = &arm.guard {
                self.visit_expr(guard);
            }
            self.visit_expr(&arm.body);
        }
    }

    fn visit_expr_binary(&mut self, expr: &'ast ExprBinary) {
        let is_chain = matches!(expr.op, BinOp::And(_)) && (has_let(&expr.left) || has_let(&expr.right));
        if expr.attrs.is_empty() && !is_chain {
            let original = self.text(bytes(expr));
            let (left, right) = (self.operand(&expr.left), self.operand(&expr.right));
            let [left_shown, right_shown] = [&expr.left, &expr.right].map(|side| self.text(bytes(side)));
            let mut variants: Vec<(String, String)> = replacements(&expr.op)
                .iter()
                .map(|op| {
                    let code = format!("{left} {op} {right}");
                    // An assignment's left side is a place, which parentheses leave a place.
                    (format!("({code})"), format!("{left_shown} {op} {right_shown}"))
                })
                .collect();
            if let BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) = expr.op {
                // Compiles for a u64 only.
                let op = self.text(bytes(&expr.op));
                let code = format!("::amdgpu_mutants_runtime::cut({left} {op} {right})");
                variants.push((code, format!("({original}) as u32")));
            }
            self.add(bytes(expr), Form::Expression, expr.op.span().start().line, &original, variants);
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'ast ExprUnary) {
        if expr.attrs.is_empty() && matches!(expr.op, UnOp::Not(_) | UnOp::Neg(_)) {
            let original = self.text(bytes(expr));
            let shown = self.text(bytes(&expr.expr));
            let variant = (self.operand(&expr.expr), shown);
            self.add(bytes(expr), Form::Expression, expr.span().start().line, &original, vec![variant]);
        }
        visit::visit_expr_unary(self, expr);
    }
}

fn bytes(of: &impl Spanned) -> Range<usize> {
    of.span().byte_range()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn replacements(op: &BinOp) -> &'static [&'static str] {
    match op {
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Lt(_) => &["==", ">", "<="],
        BinOp::Gt(_) => &["==", "<", ">="],
        BinOp::Le(_) => &[">", "<"],
        BinOp::Ge(_) => &["<", ">"],
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) | BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["%", "*"],
        BinOp::Rem(_) => &["/", "+"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::BitAnd(_) => &["|", "^"],
        BinOp::BitOr(_) => &["&", "^"],
        BinOp::BitXor(_) => &["|", "&"],
        BinOp::AddAssign(_) => &["-=", "*="],
        BinOp::SubAssign(_) | BinOp::MulAssign(_) => &["+=", "/="],
        BinOp::DivAssign(_) => &["%=", "*="],
        BinOp::RemAssign(_) => &["/=", "+="],
        BinOp::ShlAssign(_) => &[">>="],
        BinOp::ShrAssign(_) => &["<<="],
        BinOp::BitAndAssign(_) => &["|=", "^="],
        BinOp::BitOrAssign(_) => &["&=", "^="],
        BinOp::BitXorAssign(_) => &["|=", "&="],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_source(source: &str) -> (Vec<String>, Skipped) {
        let (mut mutants, mut skipped) = (Vec::new(), Skipped::new());
        let items = syn::parse_file(source).unwrap().items;
        collect("src/a.rs", source, &items, &mut mutants, &mut skipped);
        let shown = |mutant: &Mutant| format!("{}: {} => {}", mutant.line, mutant.original, mutant.replacement);
        (mutants.iter().map(shown).collect(), skipped)
    }

    #[test]
    fn every_class_is_found() {
        let (found, _) = of_source(
            "fn f(a: u32) -> bool {\n  g(a)?;\n  match a { 1 => {}, 2 if h() => {}, _ => {} }\n  !(a as u64 + 1 == 3)\n}",
        );
        assert_eq!(
            found,
            [
                "1: -> bool => return true",
                "1: -> bool => return false",
                "2: g(a)?; => no such statement",
                "3: 1 => .. => no such arm",
                "3: if h() => if true",
                "3: if h() => if false",
                "4: !(a as u64 + 1 == 3) => (a as u64 + 1 == 3)",
                "4: a as u64 + 1 == 3 => a as u64 + 1 != 3",
                "4: a as u64 + 1 => a as u64 - 1",
                "4: a as u64 + 1 => a as u64 * 1",
                "4: a as u64 + 1 => (a as u64 + 1) as u32",
            ]
        );
    }

    #[test]
    fn what_is_fixed_at_compile_time_is_counted_and_tests_are_no_part_of_the_library() {
        let source = "const A: u32 = 1 + 2;
            #[cfg(test)] mod tests { fn f() -> bool { a && b } }
            unsafe fn u() -> u32 { 1 + 1 }
            fn i() -> impl Iterator { x }
            fn p() { assert!(a < b); }";
        let (found, skipped) = of_source(source);
        assert_eq!(found, ["5: the body => return"]);
        let counts: Vec<_> = skipped.into_iter().collect();
        let counted =
            [("in a constant", 3), ("in a macro's arguments", 3), ("returns impl Trait", 1), ("unsafe fn", 1)];
        assert_eq!(counts, counted);
    }

    #[test]
    fn a_chain_of_patterns_stays_a_chain() {
        let (found, _) = of_source("fn f() { if let Some(a) = b && a > 1 {} }");
        assert_eq!(found.len(), 1 + 3, "the body, and what becomes of >: {found:?}");
    }
}
