/** The version that we write into a config; if missing, it is "1.0.0" (protocol.md section 2). */
export const SCHEMA_VERSION = "1.1.0";

type Raw = Readonly<Record<string, unknown>>;

interface Step {
  /** The version of a config after this step. */
  readonly to: string;
  readonly migrate: (config: Raw) => Raw;
}

/** Migrations from each version to the next, oldest first. A published step must never change. */
const STEPS: readonly Step[] = [
  {
    to: "1.1.0",
    // 1.0.0 had ISO times, chose colours by the present members, and did not record former members.
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
 * Migrates our own config of an older version; the file is rewritten at the next change of the team. A config without a
 * version belongs to another program and stays unchanged, like one of a newer version.
 */
export function migrateConfig(config: unknown): unknown {
  if (!isObject(config)) return config;
  return STEPS.reduce((current, { to, migrate }) => {
    const isOlder = typeof current.schemaVersion === "string" && compare(current.schemaVersion, to) < 0;
    return isOlder ? { ...migrate(current), schemaVersion: to } : current;
  }, config);
}

/** True if {@link migrateConfig} returns the config unchanged. */
export function isMigrated(config: unknown): boolean {
  return migrateConfig(config) === config;
}

/** True if a config of this version has an unknown format; a newer minor version only adds fields. */
export function isNewerFormat(version: string): boolean {
  return majorOf(version) > majorOf(SCHEMA_VERSION);
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10) || 0;
}

/** Compares two versions; an invalid one is neither older nor newer. */
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
