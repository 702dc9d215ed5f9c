/** What we write into a config; absent reads as "1.0.0" (protocol.md section 2). */
export const SCHEMA_VERSION = "1.1.0";

type Raw = Readonly<Record<string, unknown>>;

interface Step {
  /** The version that a config has behind it. */
  readonly to: string;
  readonly migrate: (config: Raw) => Raw;
}

/** From each version to the next, oldest first. A step that was once published never changes. */
const STEPS: readonly Step[] = [
  {
    to: "1.1.0",
    // Times were ISO texts, colours went by who was there, and who had ended was forgotten.
    migrate: (config) => {
      const members = Array.isArray(config.members) ? config.members : [];
      return {
        ...config,
        createdAt: inMilliseconds(config.createdAt),
        members: members.map((member: unknown) =>
          isObject(member) && "joinedAt" in member
            ? { ...member, joinedAt: inMilliseconds(member.joinedAt) }
            : member,
        ),
        joinedCount: config.joinedCount ?? Math.max(0, members.length - 1),
        former: config.former ?? [],
      };
    },
  },
];

/**
 * A config of ours as this version would have written it; the file changes with the next change of the team. One without a
 * version is another program's and stays as it is, as does one of a newer version.
 */
export function migrateConfig(config: unknown): unknown {
  if (!isObject(config)) return config;
  return STEPS.reduce((current, { to, migrate }) => {
    const isOlder = typeof current.schemaVersion === "string" && compare(current.schemaVersion, to) < 0;
    return isOlder ? { ...migrate(current), schemaVersion: to } : current;
  }, config);
}

/** Whether a config of this version has a form that we do not know; a newer minor version only adds to it. */
export function isNewerForm(version: string): boolean {
  return majorOf(version) > majorOf(SCHEMA_VERSION);
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10) || 0;
}

/** What is no version is neither older nor newer. */
function compare(a: string, b: string): number {
  const [left = [], right = []] = [a, b].map((version) => version.split(".").map(Number));
  const differences = [0, 1, 2].map((part) => (left[part] ?? 0) - (right[part] ?? 0));
  return differences.find((difference) => difference !== 0) || 0;
}

function inMilliseconds(time: unknown): unknown {
  return typeof time === "string" ? Date.parse(time) || 0 : time;
}

function isObject(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
