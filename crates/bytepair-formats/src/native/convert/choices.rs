//! The parts of a tokenizer that are one choice of several, to records and back.

use super::super::schema::{
    BehaviourRecord, FlavourRecord, FormRecord, KindRecord, LeadingRecord, MarkKindRecord,
    MissingRecord, SideRecord, StrategyRecord, UnitRecord,
};
use bytepair::decode::LeadingSpaces;
use bytepair::normalize::UnicodeForm;
use bytepair::template::{Side, TruncationStrategy};
use bytepair::units::{ByteIds, EndMarkKind, Missing, Unit};
use bytepair::vocabulary::{Form, TokenKind};
use bytepair_split::{Behaviour, Flavour};

/// Two types whose values have the same names.
macro_rules! same {
    ($record:ident, $part:ident, $($name:ident),+) => {
        impl From<$part> for $record {
            fn from(part: $part) -> Self {
                match part {
                    $($part::$name => Self::$name),+
                }
            }
        }

        impl From<$record> for $part {
            fn from(record: $record) -> Self {
                match record {
                    $($record::$name => Self::$name),+
                }
            }
        }
    };
}

same!(FormRecord, UnicodeForm, Nfc, Nfd, Nfkc, Nfkd);
same!(LeadingRecord, LeadingSpaces, Stay, OneGoes, EachGoes);
same!(FlavourRecord, Flavour, Rust, Oniguruma, Cutter);
same!(
    BehaviourRecord,
    Behaviour,
    Isolated,
    Removed,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous
);
same!(MarkKindRecord, EndMarkKind, Unit, Suffix);
same!(MissingRecord, Missing, Error, Drop);
same!(SideRecord, Side, Left, Right);
same!(StrategyRecord, TruncationStrategy, LongestFirst, OnlyFirst, OnlySecond);

impl From<Unit> for UnitRecord {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Byte(ByteIds::Printable) => Self::PrintableByte,
            Unit::Byte(ByteIds::Value) => Self::ByteValue,
            Unit::Character => Self::Character,
        }
    }
}

impl From<UnitRecord> for Unit {
    fn from(record: UnitRecord) -> Self {
        match record {
            UnitRecord::PrintableByte => Self::Byte(ByteIds::Printable),
            UnitRecord::ByteValue => Self::Byte(ByteIds::Value),
            UnitRecord::Character => Self::Character,
        }
    }
}

impl From<TokenKind> for KindRecord {
    fn from(kind: TokenKind) -> Self {
        match kind {
            TokenKind::Text(Form { continues: false, ends: false }) | TokenKind::Hole => {
                Self::Plain
            }
            TokenKind::Text(Form { continues: false, ends: true }) => Self::Ending,
            TokenKind::Text(Form { continues: true, ends: false }) => Self::Continuing,
            TokenKind::Text(Form { continues: true, ends: true }) => Self::ContinuingEnding,
            TokenKind::Byte => Self::Byte,
            TokenKind::Unknown => Self::Unknown,
            TokenKind::Added => Self::Added,
        }
    }
}

impl From<KindRecord> for TokenKind {
    fn from(kind: KindRecord) -> Self {
        let text = |continues, ends| Self::Text(Form { continues, ends });
        match kind {
            KindRecord::Plain => text(false, false),
            KindRecord::Ending => text(false, true),
            KindRecord::Continuing => text(true, false),
            KindRecord::ContinuingEnding => text(true, true),
            KindRecord::Byte => Self::Byte,
            KindRecord::Unknown => Self::Unknown,
            KindRecord::Added => Self::Added,
        }
    }
}
