import * as z from "zod/mini";
import { adapterSchema } from "../adapter/adapter-schema.ts";
import { hooksSetting } from "../agent/hooks/settings.ts";
import { sandboxSetting } from "../agent/sandbox/settings.ts";
import { permissionMode } from "../schema/config.ts";

const ADAPTER_ID = "a name may have lower-case letters, digits and -, and begins with a letter or a digit";

/** Describes a key, for `teams settings --schema`. */
const describe = z.describe;

const rules = z._default(z.array(z.string()), []);

const permissions = z.looseObject({
  allow: rules.check(describe("Rules for calls that run without asking: Bash(git:*)")),
  ask: rules.check(
    describe(
      "Rules for calls that always ask, even if another rule allows them; those of an untrusted project count too",
    ),
  ),
  deny: rules.check(
    describe("Rules for calls that never run, in any mode; those of an untrusted project count too"),
  ),
  additionalDirectories: rules.check(describe("Additional directories that agents may work in")),
  // A mode that only a newer program knows is ignored.
  defaultMode: z
    .catch(z.optional(permissionMode), undefined)
    .check(describe("Permission mode of a lead, and of a team made with teams create (default: default)")),
  disableBypassPermissionsMode: z
    .optional(z.string())
    .check(describe('"disable" forbids bypassPermissions mode')),
});

const dollars = z.optional(z.number().check(z.minimum(0)));
const price = z.looseObject({
  input: dollars,
  output: dollars,
  cacheRead: dollars.check(describe("Price of cache reads (default: a tenth of the input price)")),
  cacheWrite: dollars.check(describe("Price of cache writes (default: 1.25 times the input price)")),
  window: z
    .optional(z.int().check(z.minimum(1_000)))
    .check(describe("The model's context window, in tokens")),
});

const nonEmptyText = z.string().check(z.minLength(1));

/** A shell command, or words to run without a shell. */
const programWords = z.union([nonEmptyText, z.array(nonEmptyText).check(z.minLength(1))]);

const teamsSettings = z.looseObject({
  worktreeDir: z
    .optional(nonEmptyText)
    .check(
      describe("Directory of the teammates' worktrees, relative to the repository (default: .worktrees)"),
    ),
  worktreeSetup: z
    .optional(nonEmptyText)
    .check(describe("Shell command that runs in each new worktree before its teammate starts")),
  verify: z
    .optional(nonEmptyText)
    .check(describe("Shell command that must succeed in a teammate's worktree before its work lands")),
  hooks: z.prefault(
    z.looseObject({
      maxContinuations: z
        ._default(z.int().check(z.minimum(0)), 5)
        .check(describe("How many times in a row hooks may make an agent continue")),
    }),
    {},
  ),
  prices: z
    ._default(z.record(z.string(), price), {})
    .check(
      describe(
        "Prices in US dollars for a million tokens, by a model's id or short name; they replace built-in prices",
      ),
    ),
  models: z._default(z.record(z.string(), z.string()), {}).check(describe("Short names of models")),
  notify: z
    .optional(z.union([programWords, z.looseObject({ program: programWords })]))
    .check(
      describe(
        "Program that runs when something is waiting for you: a shell command, or a list of words to run without a shell; in an object as `program`, a long-running program that answers",
      ),
    ),
  autoResume: z
    ._default(z.boolean(), true)
    .check(describe("Whether agents continue automatically when their account's limit ends")),
  fallback: z
    ._default(z.array(nonEmptyText), [])
    .check(describe("Models to use while an agent's own model is limited; the first available one is used")),
  stuckAfter: z
    ._default(z.number().check(z.positive()), 600)
    .check(describe("Seconds without activity after which a running agent is shown as stuck")),
  record: z
    ._default(z.boolean(), false)
    .check(describe("Whether to record panes; not supported in this version")),
  adapters: z
    ._default(z.record(z.string().check(z.regex(/^[a-z0-9][a-z0-9-]*$/, ADAPTER_ID)), adapterSchema), {})
    .check(describe("Third-party CLIs that can be teammates, by their name in --cli")),
  minPane: z.prefault(
    z.looseObject({
      columns: z
        ._default(z.int().check(z.minimum(20)), 40)
        .check(describe("Minimum width of a teammate's pane")),
      rows: z
        ._default(z.int().check(z.minimum(5)), 10)
        .check(describe("Minimum height of a teammate's pane")),
    }),
    {},
  ),
  passSecrets: z
    ._default(z.array(z.string()), [])
    .check(describe("Variables with secrets that agents' commands may read")),
  sandbox: z
    .prefault(sandboxSetting, {})
    .check(describe("Sandbox for agents' commands, a project's hooks and MCP servers")),
});

/** The keys of `settings.json` that teams uses; keys of other programs are kept. */
export const settingsSchema = z.looseObject({
  teammateMode: z
    ._default(z.enum(["auto", "tmux", "in-process", "iterm2", "process"]), "auto")
    .check(describe("Where teammates run")),
  permissions: z.prefault(permissions, {}),
  hooks: z.prefault(hooksSetting, {}).check(describe("Commands that run at certain events")),
  env: z
    ._default(z.record(z.string(), z.coerce.string()), {})
    .check(describe("Environment variables for every agent")),
  // Each server is checked when it starts, so that an invalid one does not affect the others.
  mcpServers: z
    ._default(z.record(z.string(), z.unknown()), {})
    .check(describe("MCP servers, by name, as in .mcp.json")),
  teams: z.prefault(teamsSettings, {}).check(describe("Settings that only teams uses")),
});
export type Settings = z.infer<typeof settingsSchema>;

/** The known keys of the objects in which only keys of teams make sense, by their path. */
export const TEAMS_KEYS: Readonly<Record<"teams" | "teams.sandbox", readonly string[]>> = {
  teams: Object.keys(teamsSettings.shape),
  "teams.sandbox": Object.keys(sandboxSetting.shape),
};

/** Returns the JSON Schema of the settings file, with each key's description and default. */
export function settingsJsonSchema(): object {
  return z.toJSONSchema(settingsSchema, { io: "input" });
}
