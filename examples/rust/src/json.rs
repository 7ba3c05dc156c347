//! JSON as the protocol needs it: every number in it is whole.

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// An object: `object([("id", Json::Int(1))])`.
pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub fn text(value: impl Into<String>) -> Json {
    Json::Text(value.into())
}

impl Json {
    /// A field of an object; null where it is not there.
    pub fn get(&self, name: &str) -> &Json {
        let Json::Object(fields) = self else { return &Json::Null };
        fields.iter().find(|(each, _)| each == name).map_or(&Json::Null, |(_, value)| value)
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub fn as_int(&self) -> Option<i64> {
        if let Json::Int(number) = self { Some(*number) } else { None }
    }

    pub fn items(&self) -> &[Json] {
        if let Json::List(items) = self { items } else { &[] }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => write!(f, "null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Int(value) => write!(f, "{value}"),
            Json::Text(value) => quoted(f, value),
            Json::List(items) => {
                write!(f, "[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { "," } else { "" })?;
                }
                write!(f, "]")
            }
            Json::Object(fields) => {
                write!(f, "{{")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}", if at > 0 { "," } else { "" })?;
                    quoted(f, name)?;
                    write!(f, ":{value}")?;
                }
                write!(f, "}}")
            }
        }
    }
}

fn quoted(f: &mut fmt::Formatter, value: &str) -> fmt::Result {
    write!(f, "\"")?;
    for sign in value.chars() {
        match sign {
            '"' | '\\' => write!(f, "\\{sign}")?,
            '\0'..='\x1f' => write!(f, "\\u{:04x}", sign as u32)?,
            _ => write!(f, "{sign}")?,
        }
    }
    write!(f, "\"")
}

/// Read a whole text.
pub fn parse(source: &str) -> Result<Json, String> {
    let mut reader = Reader { rest: source };
    let value = reader.value()?;
    reader.skip();
    if reader.rest.is_empty() { Ok(value) } else { Err(reader.wrong("the end")) }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn wrong(&self, wanted: &str) -> String {
        format!("{wanted} is wanted, and this is {:?}", self.rest.chars().take(20).collect::<String>())
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    /// Whether a word comes next; it is read then.
    fn comes(&mut self, word: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Result<Json, String> {
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))] {
            if self.comes(word) {
                return Ok(value);
            }
        }
        if self.comes("[") {
            return self.several("]", Reader::value).map(Json::List);
        }
        if self.comes("{") {
            return self.several("}", Reader::field).map(Json::Object);
        }
        if self.comes("\"") {
            return self.text().map(Json::Text);
        }
        let end = self.rest.find(|sign: char| !sign.is_ascii_digit() && sign != '-').unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        let value = number.parse().map_err(|_| self.wrong("a value"))?;
        self.rest = rest;
        Ok(Json::Int(value))
    }

    fn several<T>(&mut self, end: &str, one: fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let mut found = Vec::new();
        while !self.comes(end) {
            if !found.is_empty() && !self.comes(",") {
                return Err(self.wrong("a comma"));
            }
            found.push(one(self)?);
        }
        Ok(found)
    }

    fn field(&mut self) -> Result<(String, Json), String> {
        let named = self.comes("\"");
        let name = if named { self.text()? } else { return Err(self.wrong("a name")) };
        if self.comes(":") { Ok((name, self.value()?)) } else { Err(self.wrong("a colon")) }
    }

    /// Read a text whose first quote has been read.
    fn text(&mut self) -> Result<String, String> {
        let mut found = String::new();
        loop {
            let mut signs = self.rest.chars();
            let sign = signs.next().ok_or("a text has no end")?;
            self.rest = signs.as_str();
            match sign {
                '"' => return Ok(found),
                '\\' => found.push(self.escaped()?),
                _ => found.push(sign),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let mut signs = self.rest.chars();
        let sign = signs.next().ok_or("a text has no end")?;
        self.rest = signs.as_str();
        Ok(match sign {
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let mut units = vec![self.unit()?];
                if (0xd800..0xdc00).contains(&units[0]) && self.rest.starts_with("\\u") {
                    self.rest = &self.rest[2..];
                    units.push(self.unit()?);
                }
                String::from_utf16(&units).map_err(|_| "half of a surrogate pair is no text")?.remove(0)
            }
            other => other,
        })
    }

    fn unit(&mut self) -> Result<u16, String> {
        let digits = self.rest.get(..4).ok_or("four digits are wanted")?;
        self.rest = &self.rest[4..];
        u16::from_str_radix(digits, 16).map_err(|_| format!("{digits:?} is no number"))
    }
}
