//! Names of places in home folders and systems: toolchains, settings, folders of agents. [`super::home`] says what they are for.

/// Read-only places below the home folder where toolchains are by default.
pub const TOOLCHAINS: [&str; 39] = [
    ".asdf",
    ".bun",
    ".cache/pip",
    ".cargo/bin",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".deno",
    ".dotnet",
    ".ghcup",
    ".gradle/wrapper",
    ".jenv",
    ".julia/juliaup",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".m2/repository",
    ".nix-profile",
    ".nodenv",
    ".nuget/packages",
    ".nvm",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".swiftly",
    ".volta",
    "go/bin",
    "go/pkg",
    "sdk",
];

/// Variables that name toolchains, or lists of folders to load code from.
pub const VARIABLES: [&str; 30] = [
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CONDA_PREFIX",
    "DENO_INSTALL",
    "DOTNET_ROOT",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "GEM_HOME",
    "GOROOT",
    "HOMEBREW_PREFIX",
    "JAVA_HOME",
    "LD_LIBRARY_PATH",
    "MISE_DATA_DIR",
    "NODE_PATH",
    "NVM_DIR",
    "N_PREFIX",
    "PIPX_HOME",
    "PIP_CACHE_DIR",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYTHONPATH",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "SDKMAN_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// Variables that move parts of the home folder elsewhere. Confined programs use the usual places of their own home folder.
pub const MOVES: [&str; 3] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/// Settings that confined programs get as copies, unless they hold a secret.
pub const SETTINGS: [&str; 9] = [
    ".asdfrc",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".config/pip/pip.conf",
    ".gitconfig",
    ".npmrc",
    ".pip/pip.conf",
    ".tool-versions",
];

/// Files that tools look for in all folders above the one where they start, and that stop them if they cannot be read. Readable unless they
/// hold a secret.
pub const LOOKED_FOR: [&str; 16] = [
    ".cargo/config",
    ".cargo/config.toml",
    ".editorconfig",
    ".node-version",
    ".nvmrc",
    ".prettierrc",
    ".python-version",
    ".tool-versions",
    "package.json",
    "pyproject.toml",
    "pytest.ini",
    "rust-toolchain",
    "rust-toolchain.toml",
    "setup.cfg",
    "tox.ini",
    "tsconfig.json",
];

/// Folders in the home folder that hold the files of many programs, and so are nobody's installation.
pub const SHARED_BY_MANY: [&str; 6] = [".cache", ".config", ".local", ".local/share", ".local/state", ".var"];
/// Folders of the system. A home folder that holds or is one of them, as in some containers, is more than a home folder.
pub const OF_THE_SYSTEM: [&str; 16] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/nix",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/tmp",
    "/usr",
    "/var/lib/dpkg",
    "/var/tmp",
];
/// Folders for programs that the installation around them is needed for.
pub const OF_PROGRAMS: [&str; 5] = ["bin", "sbin", ".bin", "shims", "condabin"];
/// Places below `/run` that hold no secrets and that programs need. Everything else there belongs to services.
pub const OF_SERVICES: [&str; 6] = [
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/run/wrappers",
];

/// Entries of an agent's folder that it does not get: what it did for others, and what it can make again.
pub const STATE: [&str; 38] = [
    "backups",
    "brain",
    "cache",
    "checkpoints",
    "conversations",
    "db",
    "debug",
    "file-history",
    "history",
    "history.jsonl",
    "ide",
    "input_history",
    "log",
    "logs",
    "memories",
    "message",
    "paste-cache",
    "plans",
    "project",
    "projects",
    "projects.json",
    "session",
    "session-env",
    "session-state",
    "session_index.jsonl",
    "sessions",
    "shell-snapshots",
    "shell_snapshots",
    "snapshot",
    "statsig",
    "storage",
    "tasks",
    "telemetry",
    "threads",
    "tmp",
    "todos",
    "tool-output",
    "usage-data",
];
/// Endings of names of databases and their logs.
pub const STATE_ENDINGS: [&str; 8] = [".db", ".db-shm", ".db-wal", ".lock", ".log", ".sqlite", ".sqlite-shm", ".sqlite-wal"];
/// Files in which agents keep tokens that they renew.
pub const SIGN_IN: [&str; 9] = [
    ".credentials.json",
    "account.json",
    "auth.json",
    "credentials.json",
    "gemini-credentials.json",
    "mcp-auth.json",
    "mcp-oauth-tokens.json",
    "oauth_creds.json",
    "tokens.json",
];
