import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Home, KEY, type Lack, type Program } from "./program.ts";

const LEADS_BY_ACP = "claude leads only with --acp";
const REASONS_OF_CLAUDE = {
  budget: "teams counts its tokens, but cannot stop it at a limit",
  screen: "the lead answers its requests",
};
const TRUSTED_BY_GEMINI = ".gemini/trustedFolders.json";
const LEADS_WITHOUT_SCREEN = "gemini leads only without its own screen";
const OTHER_SCREEN = "it runs without its own screen";
const NO_SCREEN = { screen: OTHER_SCREEN, quit: OTHER_SCREEN, escape: OTHER_SCREEN };
/** The rows about the program itself. If a program has two channels, only one column has these rows. */
const same = (as: string) => {
  const why = `as ${as}: the same program`;
  return { adopt: why, join: why, client: why, http: why, "mcp-tools": why };
};
/** The rows that do not apply to a program over the Agent Client Protocol that has no option for its model. */
const ofAcp = (as: string) => ({
  ...{ ...NOT_CLAUDE, ...NO_SCREEN, ...same(as) },
  model: "it has no option for its model",
});
const ONLY_CLAUDE_LEADS = "only claude starts teammates of another vendor";
const ONLY_CLAUDE_WRITES = "only claude reads and writes the files of the team";
const NOT_CLAUDE = {
  ...{ under: ONLY_CLAUDE_LEADS, "under-plan": ONLY_CLAUDE_LEADS, load: ONLY_CLAUDE_WRITES },
  ...{ hand: ONLY_CLAUDE_WRITES, "hand-pane": ONLY_CLAUDE_WRITES, "hand-mode": ONLY_CLAUDE_WRITES },
  ...{ "hand-crash": ONLY_CLAUDE_WRITES, "hand-end": ONLY_CLAUDE_WRITES, "hand-kill": ONLY_CLAUDE_WRITES },
  ...{ "hand-back": ONLY_CLAUDE_WRITES, "hand-escape": ONLY_CLAUDE_WRITES },
};

const OPENCODE_LOGIN = ".local/share/opencode/auth.json";
const NOT_LOGGED_IN = { of: "login", shows: "needs-input", named: /not logged in/ } as const;
const LOGIN_OF_CODEX = {
  ...NOT_LOGGED_IN,
  remove(place: Home): void {
    rmSync(codexFile(place));
    rmSync(join(place.home, ".codex/auth.json"));
  },
  variables: ["FAKE_KEY"],
};
const LOGIN_OF_OPENCODE = {
  of: "login",
  shows: "starts",
  remove: ({ home }: Home) => rmSync(join(home, OPENCODE_LOGIN)),
} as const;
const LOGIN_OF_QWEN = {
  of: "login",
  remove: ({ home }: Home) => rmSync(join(home, ".qwen/settings.json")),
  variables: ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
} as const;

const UNNAMED = "its request does not name the tool, so teams asks";
const FAILURES_OF_OLD_QWEN = {
  messages: UNNAMED,
  tasks: UNNAMED,
  mcp: UNNAMED,
  plan: UNNAMED,
  peer: UNNAMED,
  run: UNNAMED,
  shutdown: UNNAMED,
};

export const PROGRAMS: readonly Program[] = [
  claude("claude-2.1.34", "2.1.34"),
  claude("claude-2.1.150", "2.1.150"),
  claude("claude-latest", "latest"),
  {
    ...claude("claude-acp", "latest"),
    package: "@agentclientprotocol/claude-agent-acp",
    cli: "claude-acp",
    channel: "acp",
    node: 22,
    notApplicable: ofAcp("claude"),
    lacks: [{ ...NOT_LOGGED_IN, remove: () => undefined, variables: ["ANTHROPIC_API_KEY"] }],
  },
  {
    id: "codex",
    package: "@openai/codex",
    version: "latest",
    cli: "codex",
    channel: "app-server",
    knownFailures: {
      command: "Codex keeps commands of an interrupted turn in the background",
    },
    answerKeys: { keys: ["y"], isYes: true },
    notApplicable: { ...NOT_CLAUDE, plan: "it has no plan mode" },
    lacks: [
      { of: "trust", shows: "starts", remove: (place) => write(codexFile(place), codexConfig(place, false)) },
      LOGIN_OF_CODEX,
    ],
    plain: ["codex", "-a", "on-request"],
    prepare: prepareCodex,
  },
  {
    id: "codex-acp",
    package: "@agentclientprotocol/codex-acp",
    version: "latest",
    cli: "codex-acp",
    channel: "acp",
    notApplicable: ofAcp("codex"),
    lacks: [LOGIN_OF_CODEX],
    prepare: prepareCodex,
  },
  {
    id: "opencode",
    package: "opencode-ai",
    version: "latest",
    cli: "opencode",
    channel: "http",
    interruptKeys: ["Escape", "Escape"],
    answerKeys: { keys: ["Enter"], isYes: true },
    notApplicable: NOT_CLAUDE,
    lacks: [LOGIN_OF_OPENCODE],
    plain: ["opencode"],
    prepare: prepareOpencode,
  },
  {
    id: "opencode-acp",
    package: "opencode-ai",
    version: "latest",
    cli: "opencode-acp",
    channel: "acp",
    notApplicable: ofAcp("opencode"),
    lacks: [LOGIN_OF_OPENCODE],
    prepare: prepareOpencode,
  },
  {
    ...gemini("gemini"),
    notApplicable: { ...NOT_CLAUDE, ...NO_SCREEN, ...same("gemini-native") },
    lacks: [
      {
        ...NOT_LOGGED_IN,
        remove: ({ home }) => rmSync(join(home, ".gemini/settings.json")),
        variables: ["GEMINI_API_KEY"],
      },
    ],
  },
  {
    ...gemini("gemini-native"),
    channel: "hooks",
    // Its screen can only deny: the hook asks before Gemini does.
    answerKeys: { keys: ["Escape"], isYes: false },
    notApplicable: {
      ...NOT_CLAUDE,
      plan: "its plan mode removes the team's tools",
      ...{ run: LEADS_WITHOUT_SCREEN, "run-member": LEADS_WITHOUT_SCREEN },
    },
    // At a limit, the CLI waits and repeats its request.
    knownFailures: { limit: "no hook reports it" },
    lacks: [
      {
        of: "trust",
        shows: "needs-input",
        named: /trust/,
        remove: ({ home }) => rmSync(join(home, TRUSTED_BY_GEMINI)),
      },
    ],
  },
  qwen("qwen-0.15.10", "0.15.10"),
  { ...qwen("qwen-latest", "latest"), node: 22 },
  { ...qwenAcp("qwen-acp-0.15.10", "0.15.10"), knownFailures: FAILURES_OF_OLD_QWEN },
  { ...qwenAcp("qwen-acp-latest", "latest"), node: 22 },
];

function gemini(id: string): Program {
  return {
    id,
    package: "@google/gemini-cli",
    version: "latest",
    cli: id,
    channel: "acp",
    lacks: [],
    plain: ["gemini"],
    prepare({ home, repo, modelUrl }) {
      const settings = {
        // Otherwise a model chooses the model.
        model: { name: "gemini-2.5-flash" },
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      };
      write(join(home, ".gemini/settings.json"), JSON.stringify(settings));
      write(join(home, TRUSTED_BY_GEMINI), JSON.stringify({ [repo]: "TRUST_FOLDER" }));
      return { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: modelUrl };
    },
  };
}

function prepareCodex(place: Home): Readonly<Record<string, string>> {
  write(codexFile(place), codexConfig(place, true));
  write(join(place.home, ".codex/auth.json"), JSON.stringify({ OPENAI_API_KEY: KEY }));
  return { FAKE_KEY: KEY };
}

function prepareOpencode({ home, modelUrl }: Home): Readonly<Record<string, string>> {
  write(join(home, OPENCODE_LOGIN), JSON.stringify({ fake: { type: "api", key: KEY } }));
  const options = { baseURL: `${modelUrl}/v1` };
  const model = { name: "m", limit: { context: 100_000, output: 4096 }, cost: { input: 1, output: 1 } };
  const provider = { fake: { npm: "@ai-sdk/openai-compatible", options, models: { m: model, big: model } } };
  const models = { model: "fake/m", small_model: "fake/m", provider };
  const config = { autoupdate: false, share: "disabled", ...models };
  write(join(home, ".config/opencode/opencode.json"), JSON.stringify(config));
  return { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" };
}

const codexFile = ({ home }: Home): string => join(home, ".codex/config.toml");

function codexConfig({ repo, modelUrl }: Home, isTrusted: boolean): string {
  const provider = `name = "fake"\nbase_url = "${modelUrl}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"`;
  const head = `model = "gpt-5"\nmodel_provider = "fake"\n[model_providers.fake]\n${provider}\n`;
  const trust = isTrusted ? `[projects."${repo}"]\ntrust_level = "trusted"\n` : "";
  return `${head}${trust}[tui]\nscreen_reader_detection_done = true\n`;
}

/** 0.15.10 is the newest version for Node 20. */
function qwenAcp(id: string, version: string): Program {
  return {
    ...qwen(id, version),
    cli: "qwen-acp",
    channel: "acp",
    notApplicable: { ...NOT_CLAUDE, ...NO_SCREEN, ...same("qwen") },
    lacks: [{ ...LOGIN_OF_QWEN, ...NOT_LOGGED_IN }],
  };
}

function qwen(id: string, version: string): Program {
  return {
    id,
    package: "@qwen-code/qwen-code",
    version,
    cli: "qwen",
    channel: "files",
    answerKeys: { keys: ["Enter"], isYes: true },
    notApplicable: { ...NOT_CLAUDE, plan: "its plan mode refuses the team's tools" },
    lacks: [{ ...LOGIN_OF_QWEN, shows: "needs-input", named: /login/ }],
    plain: ["qwen"],
    prepare({ home, modelUrl }) {
      const security = { auth: { selectedType: "openai" } };
      write(
        join(home, ".qwen/settings.json"),
        JSON.stringify({ security, privacy: { usageStatisticsEnabled: false } }),
      );
      return { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_MODEL: "m" };
    },
  };
}

function claude(id: string, version: string): Program {
  return {
    id,
    package: "@anthropic-ai/claude-code",
    version,
    cli: "claude",
    channel: "inbox",
    notApplicable: { ...REASONS_OF_CLAUDE, run: LEADS_BY_ACP, "run-member": LEADS_BY_ACP },
    lacks: [
      ofClaude("trust", /trust/, (text) => text.replaceAll(/("hasTrustDialogAccepted": ?)true/g, "$1false")),
      ofClaude("an answer about its key", /API key/, (text) => text.replace('"customApiKey', '"none')),
      ofClaude("a first start", /first start/, (text) => text.replace('"hasCompletedOnboarding', '"none')),
    ],
    plain: ["claude", "--permission-mode", "default"],
    prepare({ home, repo, modelUrl }) {
      const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
      const memory = {
        ...{ hasCompletedOnboarding: true, theme: "dark", numStartups: 5, autoUpdates: false },
        customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
        projects: { [home]: project, [repo]: project },
      };
      write(join(home, ".claude.json"), JSON.stringify(memory));
      return {
        ...{ ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: KEY },
        ...{ DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
        // Otherwise it retries for minutes before a turn fails.
        CLAUDE_CODE_MAX_RETRIES: "3",
      };
    },
  };
}

/** Returns a lack that makes claude forget an answer of a person. */
function ofClaude(of: string, named: RegExp, change: (memory: string) => string): Lack {
  const remove = ({ home }: Home): void => {
    const file = join(home, ".claude.json");
    write(file, change(readFileSync(file, "utf8")));
  };
  return { of, shows: "needs-input", named, remove };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}
