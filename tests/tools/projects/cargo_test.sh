# cargo test: 224 pass, two panic
version() { cargo --version; }
setup() {
mkdir -p src
printf '[package]\nname = "semver_lite"\nversion = "0.2.0"\nedition = "2021"\n' > Cargo.toml
cat > src/lib.rs <<'EOF'
/// Major, minor, patch.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone)]
pub struct Version(pub u32, pub u32, pub u32);

pub fn parse(text: &str) -> Result<Version, String> {
    let parts: Vec<u32> = text.split('.').map(|part| part.parse().map_err(|error| format!("{part:?}: {error}"))).collect::<Result<_, _>>()?;
    Ok(Version(parts[0], parts[1], parts[2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! versions {
        ($($name:ident $major:expr, $minor:expr;)*) => {$(
            mod $name {
                use super::*;
                #[test] fn is_read_back() { assert_eq!(parse(&format!("{}.{}.0", $major, $minor)), Ok(Version($major, $minor, 0))); }
                #[test] fn is_before_its_patch() { assert!(Version($major, $minor, 0) < Version($major, $minor, 1)); }
                #[test] fn is_after_the_last_major_or_panics() { assert!(Version($major, $minor, 0) > Version($major - 1, 9, 9)); }
                #[test] fn an_error_names_the_part() { assert!(parse(&format!("{}.x.0", $major)).unwrap_err().contains("x")); }
            }
        )*};
    }
EOF
{ echo '    versions! {'; for major in 1 2 3 4 5 6 7 8; do for minor in 0 1 2 3 4 5 6; do echo "        v${major}_$minor $major, $minor;"; done; done; echo '    }'; } >> src/lib.rs
cat >> src/lib.rs <<'EOF'

    #[test]
    fn a_short_version_is_filled_with_zeros() {
        assert_eq!(parse("1.4"), Ok(Version(1, 4, 0)));
    }

    #[test]
    fn pre_releases_come_before_releases() {
        assert_eq!(parse("2.0.0-rc1"), Ok(Version(2, 0, 0)), "the tag is dropped");
    }
}
EOF
}
run() { cargo test --offline -j 2; }
