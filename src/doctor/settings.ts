import { HOOK_EVENTS, type HooksSetting } from "../agent/hooks/settings.ts";
import { parseRule } from "../agent/permissions/rules.ts";
import { messageOf, TeamError } from "../errors.ts";
import { type LoadedSettings, loadSettings } from "../settings/settings.ts";
import { managedFile } from "../settings/settings-files.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Whether the settings that count in a directory can be read, and what in them will never do anything. */
export function settingsFindings(root: string, cwd: string, managed = managedFile()): readonly Finding[] {
  let settings: LoadedSettings;
  try {
    settings = loadSettings(root, cwd, managed);
  } catch (error) {
    const hint = error instanceof TeamError ? error.hint : undefined;
    return [fail("settings", messageOf(error), hint ?? "Make the file readable for you, or move it away.")];
  }
  const { allow, ask, deny } = settings.permissions;
  const broken = [...allow, ...ask, ...deny].filter((rule) => parseRule(rule) === undefined);
  const others = otherEvents(settings.hooks);
  return [
    ok(
      "settings",
      `can be read${others.length === 0 ? "" : `; these hooks are other programs': ${others.join(", ")}`}`,
    ),
    ...broken.map((rule) =>
      warn(
        "settings",
        `the permission rule ${JSON.stringify(rule)} cannot be read: it allows nothing, and to deny or to ask it covers the whole tool`,
        "Write it as Tool or Tool(pattern): Bash(git:*).",
      ),
    ),
    ...idleHooks(settings.hooks).map((what) =>
      warn("settings", what, "Make it one of type command; docs/permissions.md shows how."),
    ),
    ...settings.ignored.map((what) =>
      warn("settings", `not trusted, so ignored: ${what}`, "Look at it; if you trust it: teams trust"),
    ),
  ];
}

/** Hooks of our events that are never run here. */
function idleHooks(hooks: HooksSetting): readonly string[] {
  return HOOK_EVENTS.flatMap((event) =>
    (hooks[event] ?? []).flatMap((group) =>
      group.hooks
        .filter(({ type, command }) => type !== "command" || command === undefined)
        .map(({ type }) =>
          type === "command"
            ? `a hook of ${event} is not run: it names no command`
            : `a hook of ${event} is not run: its type is ${JSON.stringify(type)}, and only "command" is`,
        ),
    ),
  );
}

/** Events of other programs, and misspelled ones. */
function otherEvents(hooks: HooksSetting): readonly string[] {
  const known: readonly string[] = HOOK_EVENTS;
  return Object.keys(hooks).filter((event) => !known.includes(event));
}
