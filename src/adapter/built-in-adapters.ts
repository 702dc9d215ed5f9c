import type { AdapterInput } from "./adapter-schema.ts";

const CODEX_LOGIN = {
  paths: ["$CODEX_HOME", "~/.codex"],
  variables: ["OPENAI_API_KEY"],
  files: ["$CODEX_HOME/auth.json", "~/.codex/auth.json"],
  hint: "codex login",
};

const GEMINI_LOGIN = {
  paths: ["~/.gemini"],
  variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  files: ["~/.gemini/oauth_creds.json"],
  hint: "gemini, then choose a login",
};

const GEMINI_TRUST =
  "Gemini must trust the directory: run teams trust there, or trust it in gemini; then start the member again";

const QWEN_LOGIN = {
  paths: ["~/.qwen"],
  variables: ["OPENAI_API_KEY"],
  files: ["~/.qwen/oauth_creds.json"],
  hint: "qwen, then /auth",
};

const OPENCODE_2 = {
  versions: ">=2",
  why: "OpenCode 2 has another HTTP interface and other permission names, which teams does not support.",
};

/** Not every model has all of them. */
const CODEX_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"];

/**
 * The CLIs that `teams` knows, by their names in `--cli`. Measured with real programs and recorded traffic in November 2026;
 * `tested` lists the versions.
 */
export const BUILT_IN_ADAPTERS: Readonly<Record<string, AdapterInput>> = {
  gemini: {
    channel: "acp",
    command: "gemini",
    args: ["--acp"],
    modelArgs: ["-m", "{model}"],
    // Its own plan mode removes the team's tools, even ExitPlanMode; our rules deny what a plan forbids.
    modes: { default: "default", acceptEdits: "default", plan: "default", bypassPermissions: "default" },
    firstMessageAfter: "tools",
    withoutTools: GEMINI_TRUST,
    // Gemini starts no MCP server in a directory that it does not trust.
    trustedEnv: { GEMINI_CLI_TRUST_WORKSPACE: "true" },
    reports: ["tokens"],
    resume: "load",
    commandInTitle: true,
    login: GEMINI_LOGIN,
    hosts: ["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"],
    install: "npm install -g @google/gemini-cli",
    node: ">=20",
    tested: ["0.61.0"],
    notes: [
      "In a directory that neither you nor Gemini trusts, it leaves out the team's tools: run teams trust there.",
    ],
  },
  "gemini-native": {
    channel: "hooks",
    command: "gemini",
    modelArgs: ["-m", "{model}"],
    modes: { default: "default" },
    firstMessageAfter: "tools",
    withoutTools: GEMINI_TRUST,
    reports: ["tokens"],
    resume: "resume",
    login: GEMINI_LOGIN,
    install: "npm install -g @google/gemini-cli",
    node: ">=20",
    tested: ["0.61.0"],
    notes: [
      "Its screen can refuse a call (Escape) but not allow it: answer with teams approvals.",
      "It does not run in a sandbox that teams provides; gemini does.",
    ],
  },
  opencode: {
    channel: "http",
    command: "opencode",
    modelArgs: ["--model", "{model}"],
    modes: { default: "build", plan: "plan" },
    reports: ["tokens", "cost"],
    resume: "resume",
    // Not ~/.config/opencode: a later start outside the sandbox would load a plugin from there.
    login: {
      paths: ["~/.local/share/opencode", "~/.local/state/opencode"],
      files: ["$XDG_DATA_HOME/opencode/auth.json", "~/.local/share/opencode/auth.json"],
      hint: "opencode auth login",
    },
    install: "npm install -g opencode-ai",
    unsupported: OPENCODE_2,
    tested: ["1.18.33"],
    notes: [
      "It takes up to fifteen seconds to start, and up to a minute longer in a sandbox.",
      "Before its first start in a sandbox, start it once outside: in the sandbox it cannot create its settings directory.",
    ],
  },
  "opencode-acp": {
    channel: "acp",
    command: "opencode",
    args: ["acp"],
    // Without this it asks for nothing.
    env: {
      OPENCODE_CONFIG_CONTENT:
        '{"permission":{"edit":"ask","bash":"ask","webfetch":"ask"},"autoupdate":false}',
    },
    modes: { default: "build", plan: "plan" },
    reports: ["tokens"],
    resume: "resume",
    login: {
      paths: ["~/.local/share/opencode", "~/.local/state/opencode"],
      files: ["$XDG_DATA_HOME/opencode/auth.json", "~/.local/share/opencode/auth.json"],
      hint: "opencode auth login",
    },
    install: "npm install -g opencode-ai",
    unsupported: OPENCODE_2,
    tested: ["1.18.33"],
    notes: ["It takes up to twelve seconds to start."],
  },
  qwen: {
    channel: "files",
    command: "qwen",
    modelArgs: ["-m", "{model}"],
    modes: { default: "default" },
    firstMessageAfter: "tools",
    reports: ["tokens"],
    resume: "resume",
    login: QWEN_LOGIN,
    install: "npm install -g @qwen-code/qwen-code",
    node: ">=20",
    tested: ["0.15.10", "0.24.4"],
    notes: [
      "It runs commands that it knows to be read-only without asking. Subagents are off, because it does not report their requests.",
      "It does not run in a sandbox that teams provides; qwen-acp does.",
    ],
  },
  "qwen-acp": {
    channel: "acp",
    command: "qwen",
    args: ["--acp"],
    modelArgs: ["-m", "{model}"],
    // Its own plan mode refuses the team's tools; Gemini's removes them.
    modes: { default: "default", acceptEdits: "default", plan: "default", bypassPermissions: "default" },
    firstMessageAfter: "tools",
    reports: ["tokens"],
    resume: "load",
    login: QWEN_LOGIN,
    install: "npm install -g @qwen-code/qwen-code",
    node: ">=22",
    tested: ["0.24.4"],
  },
  claude: {
    channel: "inbox",
    command: "claude",
    // Without the first, the newest models get no tools for the team's tasks. The second keeps the installed version.
    env: { CLAUDE_CODE_ENABLE_TODO_TOOLS: "1", DISABLE_AUTOUPDATER: "1" },
    modelArgs: ["--model", "{model}"],
    // 2.1.34 has no such option.
    effortArgs: ["--effort", "{effort}"],
    efforts: ["low", "medium", "high", "xhigh", "max"],
    modes: {
      default: "default",
      acceptEdits: "acceptEdits",
      plan: "plan",
      bypassPermissions: "bypassPermissions",
      dontAsk: "dontAsk",
      delegate: "default",
    },
    resume: "resume",
    login: {
      paths: ["$CLAUDE_CONFIG_DIR", "~/.claude", "~/.claude.json"],
      variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
      hint: "claude, then /login",
    },
    hosts: ["api.anthropic.com"],
    install: "npm install -g @anthropic-ai/claude-code",
    tested: ["2.1.34", "2.1.150", "2.1.330"],
    reports: ["tokens"],
    notes: [
      "It does not run in a sandbox that teams provides, and has no limit for tokens or cost; claude-acp has both.",
    ],
  },
  "claude-acp": {
    channel: "acp",
    command: "claude-agent-acp",
    modes: { default: "default", acceptEdits: "default", plan: "plan", bypassPermissions: "default" },
    reports: ["tokens", "cost"],
    resume: "resume",
    login: {
      paths: ["$CLAUDE_CONFIG_DIR", "~/.claude", "~/.claude.json"],
      variables: ["ANTHROPIC_API_KEY"],
      files: ["$CLAUDE_CONFIG_DIR/.credentials.json", "~/.claude/.credentials.json"],
      hint: "claude, then /login",
    },
    hosts: ["api.anthropic.com"],
    install: "npm install -g @agentclientprotocol/claude-agent-acp",
    node: ">=22",
    tested: ["0.101.0"],
  },
  codex: {
    channel: "app-server",
    command: "codex",
    modelArgs: ["-m", "{model}"],
    efforts: CODEX_EFFORTS,
    reports: ["tokens"],
    modes: { default: "untrusted" },
    resume: "resume",
    login: CODEX_LOGIN,
    hosts: ["api.openai.com", "chatgpt.com", "auth.openai.com"],
    install: "npm install -g @openai/codex",
    tested: ["0.169.0"],
    notes: [
      "It runs commands that it knows to be read-only without asking.",
      "It does not run in a sandbox that teams provides; codex-acp does.",
    ],
  },
  "codex-acp": {
    channel: "acp",
    command: "codex-acp",
    // Without this, a model approves its requests.
    args: ["-c", 'approvals_reviewer="user"'],
    effortArgs: ["-c", 'model_reasoning_effort="{effort}"'],
    efforts: CODEX_EFFORTS,
    reports: ["tokens"],
    modes: { default: "read-only", acceptEdits: "agent", plan: "read-only", bypassPermissions: "agent" },
    resume: "resume",
    login: CODEX_LOGIN,
    hosts: ["api.openai.com", "chatgpt.com", "auth.openai.com"],
    install: "npm install -g @agentclientprotocol/codex-acp",
    tested: ["2.6.0"],
  },
  goose: {
    channel: "acp",
    command: "goose",
    args: ["acp"],
    // Its default mode asks for nothing.
    env: { GOOSE_MODE: "approve" },
    modes: { default: "approve" },
    login: {
      paths: ["~/.config/goose", "~/.local/share/goose"],
      files: ["~/.config/goose/secrets.yaml"],
      hint: "goose configure",
    },
    install:
      "curl -fsSL https://github.com/aaif-goose/goose/releases/download/stable/download_cli.sh | CONFIGURE=false bash",
    notes: ["Not tested: its command, modes and configuration are taken from its documentation."],
  },
};
