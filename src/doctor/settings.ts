import { HOOK_EVENTS, type HooksSetting } from "../agent/hooks/settings.ts";
import { parseRule } from "../agent/permissions/rules.ts";
import { messageOf, TeamError } from "../errors.ts";
import { type LoadedSettings, loadSettings } from "../settings/settings.ts";
import { managedFile } from "../settings/settings-files.ts";
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
    ...idleHooks(settings.hooks).map((text) =>
      warn("settings", text, "Use a hook of type command; see docs/permissions.md."),
    ),
    ...settings.ignored.map((part) =>
      warn(
        "settings",
        `${settings.ignoredReason}, so ignored: ${part}`,
        "Read it, and if you trust it: teams trust",
      ),
    ),
  ];
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
