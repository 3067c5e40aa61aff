//! Plain values with their TypeScript: each declared once, in a table from which Rust serialises and the
//! declarations are written.

/// A type of a field, as TypeScript writes it.
#[cfg(test)]
pub trait Typed {
    /// The type.
    fn typescript() -> String;
}

/// Declares objects: their fields in order, in JavaScript in camel case.
macro_rules! objects {
    ($($(#[doc = $doc:literal])+ $name:ident {
        $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)+
    })+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Debug, PartialEq, serde::Serialize)]
            #[serde(rename_all = "camelCase")]
            pub struct $name { $($(#[doc = $field_doc])+ pub $field: $type,)+ }

            #[cfg(test)]
            impl $crate::api::shape::Typed for $name {
                fn typescript() -> String {
                    stringify!($name).to_owned()
                }
            }
        )+

        /// The declaration of each object.
        #[cfg(test)]
        pub fn objects() -> Vec<String> {
            use $crate::api::shape::{Typed, camel, comment};
            vec![$({
                let mut text = comment(&[$($doc),+], "");
                text += concat!("export interface ", stringify!($name), " {\n");
                $(
                    text += &comment(&[$($field_doc),+], "  ");
                    let typed = <$type as Typed>::typescript();
                    text += &format!("  readonly {}: {typed};\n", camel(stringify!($field)));
                )+
                text + "}\n"
            }),+]
        }
    };
}

/// Declares names: each one of a fixed set of texts.
macro_rules! names {
    ($($(#[doc = $doc:literal])+ $name:ident = $all:expr;)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
            #[serde(transparent)]
            pub struct $name(pub &'static str);

            #[cfg(test)]
            impl $crate::api::shape::Typed for $name {
                fn typescript() -> String {
                    stringify!($name).to_owned()
                }
            }
        )+

        /// The declaration of each name.
        #[cfg(test)]
        pub fn names() -> Vec<String> {
            use $crate::api::shape::comment;
            vec![$({
                let known: Vec<String> = ($all).into_iter().map(|name| format!("{name:?}")).collect();
                let doc = comment(&[$($doc),+], "");
                format!("{doc}export type {} =\n  | {};\n", stringify!($name), known.join("\n  | "))
            }),+]
        }
    };
}

pub(super) use {names, objects};

/// A name of Rust, or of a link, as a name of JavaScript.
pub fn camel(name: &str) -> String {
    let mut words = name.split(['_', '-']);
    let mut text = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(1);
        text += &first.to_ascii_uppercase();
        text += rest;
    }
    text
}

/// A doc comment of TypeScript.
#[cfg(test)]
pub fn comment(lines: &[&str], indent: &str) -> String {
    let text: String = lines.concat();
    format!("{indent}/**{text} */\n")
}

#[cfg(test)]
mod typed {
    use std::collections::BTreeMap;

    use super::Typed;

    macro_rules! written {
        ($($type:ty = $text:literal),+ $(,)?) => {
            $(impl Typed for $type { fn typescript() -> String { $text.to_owned() } })+
        };
    }

    // Of the numbers those that fit in JavaScript's: a larger one would be refused at the border.
    written!(
        bool = "boolean",
        u8 = "number",
        u32 = "number",
        f64 = "number",
        String = "string",
        &'static str = "string",
    );

    impl<T: Typed> Typed for Option<T> {
        fn typescript() -> String {
            format!("{} | null", T::typescript())
        }
    }

    impl<T: Typed> Typed for Vec<T> {
        fn typescript() -> String {
            format!("readonly {}[]", T::typescript())
        }
    }

    impl<K: Typed, V: Typed> Typed for BTreeMap<K, V> {
        fn typescript() -> String {
            format!("Readonly<Record<{}, {}>>", K::typescript(), V::typescript())
        }
    }
}
