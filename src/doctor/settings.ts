import { HOOK_EVENTS, type HooksSetting } from "../agent/hooks/settings.ts";
import { UNSANDBOXED_BASH } from "../agent/permissions/outside-sandbox.ts";
import { parseRule } from "../agent/permissions/rules.ts";
import { BUILTIN_TOOL_NAMES } from "../agent/tools/tool-names.ts";
import { messageOf, TeamError } from "../errors.ts";
import { didYouMean, nearestNames } from "../schema/did-you-mean.ts";
import { PERMISSION_MODES } from "../schema/permission-modes.ts";
import { readUntrusted } from "../settings/project-parts.ts";
import { isObject } from "../settings/setting-parts.ts";
import { managedFile, userFile } from "../settings/setting-paths.ts";
import { ignoredLines, type LoadedSettings, loadSettings } from "../settings/settings.ts";
import { existingProjectFiles } from "../settings/settings-files.ts";
import { TEAMS_KEYS } from "../settings/settings-schema.ts";
import { TEAM_TOOL_NAMES } from "../team-tools/tool-names.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Checks whether the settings for a directory can be read, and which parts of them have no effect. */
export function settingsFindings(root: string, cwd: string, managed = managedFile()): readonly Finding[] {
  let settings: LoadedSettings;
  try {
    settings = loadSettings(root, cwd, managed);
  } catch (error) {
    const hint = error instanceof TeamError ? error.hint : undefined;
    return [fail("settings", messageOf(error), hint ?? "Make the file readable, or move it away.")];
  }
  const { allow, ask, deny } = settings.permissions;
  const broken = [...allow, ...ask, ...deny].filter((rule) => parseRule(rule) === undefined);
  const others = otherEvents(settings.hooks);
  return [
    ok(
      "settings",
      `can be read${others.length === 0 ? "" : `; hooks for events of other programs: ${others.join(", ")}`}`,
    ),
    ...broken.map((rule) =>
      warn(
        "settings",
        `the permission rule ${JSON.stringify(rule)} is invalid: as an allow rule it has no effect, as a deny or ask rule it covers the whole tool`,
        "Write it as Tool or Tool(pattern): Bash(git:*).",
      ),
    ),
    ...[...allow, ...ask, ...deny].flatMap(misspelledTool),
    ...unknownKeys(settings),
    ...unknownModes([userFile(root), ...existingProjectFiles(root, cwd), managed]),
    ...idleHooks(settings.hooks).map((text) =>
      warn("settings", text, "Use a hook of type command; see docs/permissions.md."),
    ),
    ...(settings.foreign ?? []).map((file) =>
      warn(
        "settings",
        `${file} belongs to another user, so it is ignored`,
        "Replace it with a file of your own.",
      ),
    ),
    ...ignoredLines({ ...settings, foreign: [] }).map((text) =>
      warn("settings", text, "Read it, and if you trust it: teams trust"),
    ),
  ];
}

const TOOLS: readonly string[] = [...BUILTIN_TOOL_NAMES, ...TEAM_TOOL_NAMES, UNSANDBOXED_BASH];
/** Tools that only claude has; some have names like those of `teams`. */
const TOOLS_OF_CLAUDE: readonly string[] = [
  ...["BashOutput", "EnterPlanMode", "KillShell", "LS", "MultiEdit", "NotebookEdit", "NotebookRead", "Skill"],
  ...["SlashCommand", "Task", "TodoRead", "TodoWrite", "WebSearch"],
];

/** Warns about a rule whose tool does not exist and whose name resembles a known tool: a denial of `Reed` denies nothing. */
function misspelledTool(rule: string): readonly Finding[] {
  const { tool } = parseRule(rule) ?? {};
  if (tool === undefined || !/^[A-Za-z]+$/.test(tool)) return [];
  if ([...TOOLS, ...TOOLS_OF_CLAUDE].some((known) => known.toLowerCase() === tool.toLowerCase())) return [];
  const [near] = nearestNames(tool, TOOLS);
  if (near === undefined) return [];
  const text = `the permission rule ${JSON.stringify(rule)} has no effect: there is no tool ${tool}`;
  return [warn("settings", text, `Did you mean ${near}?`)];
}

/** Warns about keys that have no effect: a misspelled key, and a path such as `teams.sandbox.mode` as one key. */
function unknownKeys(settings: LoadedSettings): readonly Finding[] {
  const { teams } = settings;
  const misspelled = [["teams", teams] as const, ["teams.sandbox", teams.sandbox] as const].flatMap(
    ([path, value]) =>
      Object.keys(value)
        .filter((key) => !TEAMS_KEYS[path].includes(key))
        .map((key) =>
          warn(
            "settings",
            `${path}.${key} has no effect: teams does not know this key`,
            didYouMean(key, TEAMS_KEYS[path], "All keys: teams settings --schema"),
          ),
        ),
  );
  const paths = Object.keys(settings).filter((key) => key.startsWith("teams."));
  return [
    ...misspelled,
    ...paths.map((key) =>
      warn(
        "settings",
        `the key ${JSON.stringify(key)} has no effect: settings of teams are nested objects`,
        'Nest it: { "teams": { "sandbox": { "mode": "auto" } } }.',
      ),
    ),
  ];
}

/** Warns about unknown default modes: they are ignored, since a newer program may know them. */
function unknownModes(files: readonly string[]): readonly Finding[] {
  const known: readonly string[] = PERMISSION_MODES;
  return files.flatMap((file) => {
    const mode = defaultModeIn(file);
    if (mode === undefined || known.includes(String(mode))) return [];
    const text = `${file}: permissions.defaultMode ${JSON.stringify(mode)} has no effect: there is no such mode`;
    return [warn("settings", text, didYouMean(String(mode), known, `Modes: ${known.join(", ")}`))];
  });
}

function defaultModeIn(file: string): unknown {
  const raw = readUntrusted(file);
  return isObject(raw.permissions) ? raw.permissions.defaultMode : undefined;
}

/** Describes hooks of known events that teams never runs. */
function idleHooks(hooks: HooksSetting): readonly string[] {
  return HOOK_EVENTS.flatMap((event) =>
    (hooks[event] ?? []).flatMap((group) =>
      group.hooks
        .filter(({ type, command }) => type !== "command" || command === undefined)
        .map(({ type }) =>
          type === "command"
            ? `a hook of ${event} is not run: it has no command`
            : `a hook of ${event} is not run: its type is ${JSON.stringify(type)}, and teams runs only "command"`,
        ),
    ),
  );
}

/** Lists events of other programs, and misspelled events. */
function otherEvents(hooks: HooksSetting): readonly string[] {
  const known: readonly string[] = HOOK_EVENTS;
  return Object.keys(hooks).filter((event) => !known.includes(event));
}
