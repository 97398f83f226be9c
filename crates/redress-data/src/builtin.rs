//! The built-in data sets: what they are, where they come from, whether they are here.

use std::path::{Path, PathBuf};

use redress::policy::{Layout, Policy};
use redress::table::Table;

use crate::error::{ReadError, ReadReason};
use crate::source::Bytes;
use crate::{loan, read};

/// The folder that is looked in before any other, and that `fetch` writes to.
pub const DATA_FOLDER_VARIABLE: &str = "REDRESS_DATA";

/// A built-in data set.
#[derive(Debug)]
pub struct Builtin {
    /// Its name, as in `builtin = "adult"`.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The rows of the file, before any filter.
    pub rows: usize,
    /// Who made it, and where it is published.
    pub source: &'static str,
    /// Under which terms.
    pub licence: &'static str,
    policy: &'static str,
    pub(crate) content: Content,
}

/// Where the rows of a built-in data set are.
#[derive(Debug)]
pub(crate) enum Content {
    /// In the program, packed.
    Embedded(&'static [u8]),
    /// Drawn when asked for.
    Generated,
    /// In files that have to be fetched, the training rows first.
    Files(&'static [RemoteFile]),
}

/// A file at a public address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemoteFile {
    pub(crate) name: &'static str,
    pub(crate) url: &'static str,
    pub(crate) sha256: &'static str,
    pub(crate) bytes: u64,
}

/// Whether the rows of a data set can be read now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// They are part of the program.
    Embedded,
    /// They are drawn when asked for.
    Generated,
    /// They are in this folder.
    Found(PathBuf),
    /// They have to be fetched.
    Absent {
        /// The files that are missing.
        files: Vec<&'static str>,
    },
}

static ALL: [Builtin; 5] = [
    Builtin {
        name: "german",
        about: "applicants for a bank loan in Germany; is their credit good?",
        rows: 1_000,
        source: "UCI Machine Learning Repository: Statlog (German Credit Data), Hofmann 1994, doi:10.24432/C5NC77",
        licence: "CC BY 4.0",
        policy: include_str!("../policies/german.toml"),
        content: Content::Embedded(include_bytes!("../data/german.data.gz")),
    },
    Builtin {
        name: "adult",
        about: "people of the 1994 census of the United States; do they earn more than 50,000 dollars?",
        rows: 32_561,
        source: "UCI Machine Learning Repository: Adult, Becker and Kohavi 1996, doi:10.24432/C5XW20",
        licence: "CC BY 4.0",
        policy: include_str!("../policies/adult.toml"),
        content: Content::Embedded(include_bytes!("../data/adult.data.gz")),
    },
    Builtin {
        name: "compas",
        about: "defendants in Broward County, Florida; do they reoffend within two years?",
        rows: 7_214,
        source: "ProPublica 2016, github.com/propublica/compas-analysis",
        licence: "public records, no licence stated; holds real names, so it is fetched and never embedded",
        policy: include_str!("../policies/compas.toml"),
        content: Content::Files(&[RemoteFile {
            name: "compas-scores-two-years.csv",
            url: "https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",
            sha256: "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
            bytes: 2_546_489,
        }]),
    },
    Builtin {
        name: "bail",
        about: "people released from prison in North Carolina; do they come back?",
        rows: 16_000,
        source: "ICPSR 8987, Schmidt and Witte 1984, as released with the paper: \
                 github.com/alexisjihyeross/adversarial_recourse",
        licence: "no licence stated, so it is fetched and never embedded",
        policy: include_str!("../policies/bail.toml"),
        content: Content::Files(&[
            RemoteFile {
                name: "bail_train.csv",
                url: "https://raw.githubusercontent.com/alexisjihyeross/adversarial_recourse/master/data/bail_train.csv",
                sha256: "b92a061c3af2059a73fe968bcfc7fc1702bd18f824fc76b0f398a89267b10c26",
                bytes: 695_585,
            },
            RemoteFile {
                name: "bail_test.csv",
                url: "https://raw.githubusercontent.com/alexisjihyeross/adversarial_recourse/master/data/bail_test.csv",
                sha256: "7a9adad854bb78d200201e8ce51f6b083d74b6bd3affadfdcc4b3427fd7c1d67",
                bytes: 651_814,
            },
        ]),
    },
    Builtin {
        name: "loan",
        about: "a synthetic population of loan applicants whose causes are known; do they repay?",
        rows: loan::BUILTIN_ROWS,
        source: "drawn from the structural causal model of Karimi et al. 2020",
        licence: "none needed",
        policy: include_str!("../policies/loan.toml"),
        content: Content::Generated,
    },
];

/// All built-in data sets.
pub fn datasets() -> &'static [Builtin] {
    &ALL
}

/// The built-in data set of that name.
pub fn builtin(name: &str) -> Result<&'static Builtin, UnknownBuiltin> {
    ALL.iter().find(|builtin| builtin.name == name).ok_or_else(|| UnknownBuiltin { name: name.to_owned() })
}

/// There is no built-in data set of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no built-in data set `{name}`; {}", advice(name))]
pub struct UnknownBuiltin {
    /// The name asked for.
    pub name: String,
}

/// The nearest name, or all of them.
fn advice(name: &str) -> String {
    let names = ALL.iter().map(|builtin| builtin.name);
    match redress::policy::nearest(name, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

impl Builtin {
    /// The text of its policy file, comments and all.
    pub fn policy_text(&self) -> &'static str {
        self.policy
    }

    /// Its policy.
    pub fn policy(&self) -> Policy {
        Policy::parse(self.policy, self.name).expect("a test parses every built-in policy")
    }

    /// Its policy with the paper's Δ, to compare with the paper's numbers: directions and δ_max alone. The policy itself
    /// also keeps to what is possible; the paper's Δ holds −2 prior offences and 17 years of school.
    pub fn paper_policy(&self) -> Policy {
        let mut policy = self.policy();
        for feature in &mut policy.features {
            (feature.action.min, feature.action.max) = (None, None);
        }
        // Written and read again, so that its text, which artefacts keep, says the same as the policy.
        Policy::parse(&policy.to_toml(), self.name).expect("a test writes every built-in policy")
    }

    /// Whether its rows can be read now.
    pub fn presence(&self, folders: &DataFolders) -> Presence {
        match &self.content {
            Content::Embedded(_) => Presence::Embedded,
            Content::Generated => Presence::Generated,
            Content::Files(files) => {
                let found = folders.0.iter().find(|folder| files.iter().all(|file| folder.join(file.name).is_file()));
                match found {
                    Some(folder) => Presence::Found(folder.clone()),
                    None => Presence::Absent {
                        files: files.iter().map(|file| file.name).filter(|name| folders.find(name).is_none()).collect(),
                    },
                }
            }
        }
    }

    /// Reads its rows.
    pub(crate) fn read(
        &self,
        folders: &DataFolders,
        layout: &Layout,
        missing_values: &[String],
    ) -> Result<Table, BuiltinError> {
        match &self.content {
            Content::Embedded(packed) => {
                let name = Path::new(self.name);
                Ok(read(Bytes::Packed(packed), layout, missing_values).map_err(|reason| reason.at(name))?)
            }
            Content::Generated => Ok(loan::table(loan::BUILTIN_ROWS, loan::BUILTIN_SEED)),
            Content::Files(files) => {
                let Some(first) = files.first() else { return Err(self.absent(folders)) };
                self.read_file(first.name, folders, layout, missing_values)
            }
        }
    }

    /// Reads one of its files by name.
    pub(crate) fn read_file(
        &self,
        file: &str,
        folders: &DataFolders,
        layout: &Layout,
        missing_values: &[String],
    ) -> Result<Table, BuiltinError> {
        let path = folders.find(file).ok_or_else(|| self.absent(folders))?;
        Ok(read(Bytes::File(path.clone()), layout, missing_values).map_err(|reason: ReadReason| reason.at(path))?)
    }

    fn absent(&self, folders: &DataFolders) -> BuiltinError {
        let looked = folders.0.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>();
        BuiltinError::Absent { name: self.name, looked: looked.join(" and ") }
    }
}

/// Why the rows of a built-in data set could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BuiltinError {
    /// They have not been fetched.
    #[error(
        "the data set `{name}` is not here (looked in {looked}); get it with `redress datasets fetch {name}`, or set \
         {DATA_FOLDER_VARIABLE} to the folder that holds it"
    )]
    Absent {
        /// The data set.
        name: &'static str,
        /// The folders.
        looked: String,
    },
    /// They are damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The folders in which fetched data sets are looked for, the first first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolders(Vec<PathBuf>);

impl DataFolders {
    /// `$REDRESS_DATA` where it is set, then the user's own data folder.
    pub fn standard() -> Self {
        let chosen = std::env::var_os(DATA_FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let own = dirs::data_dir().map(|folder| folder.join("redress"));
        DataFolders(chosen.into_iter().chain(own).collect())
    }

    /// This folder and no other.
    pub fn only(folder: impl Into<PathBuf>) -> Self {
        DataFolders(vec![folder.into()])
    }

    /// The folder that fetched files are written to.
    pub fn target(&self) -> Option<&Path> {
        self.0.first().map(PathBuf::as_path)
    }

    fn find(&self, file: &str) -> Option<PathBuf> {
        self.0.iter().map(|folder| folder.join(file)).find(|path| path.is_file())
    }
}
