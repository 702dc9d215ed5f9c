/** Whether a peer does something; `unknown` for a version that was not measured, or if the version is unknown. */
export type Ability = "yes" | "no" | "unknown";

/**
 * Whether a claude accepts a permission mode and new rules in a message while it runs: seen up to 2.1.200, dropped since 2.1.250
 * (interop.md).
 */
export function takesChanges(version: string | undefined): Ability {
  if (version === undefined) return "unknown";
  return isAtMost(version, "2.1.200") ? "yes" : isAtMost("2.1.250", version) ? "no" : "unknown";
}

/** Whether a claude keeps the rules that come with an allowed call: 2.1.34 ignores them, 2.1.150 and newer keep them (clis.md). */
export function keepsRules(version: string | undefined): Ability {
  if (version === undefined) return "unknown";
  return isAtMost(version, "2.1.34") ? "no" : isAtMost("2.1.150", version) ? "yes" : "unknown";
}

/** Returns whether a claude continues on its own when a limit of its account has ended: 2.1.234 and newer do. */
export function continuesAfterLimit(version: string | undefined): Ability {
  if (version === undefined) return "unknown";
  return isAtMost("2.1.234", version) ? "yes" : "no";
}

/** Compares versions by their numbers. */
function isAtMost(version: string, limit: string): boolean {
  const [one, other] = [version, limit].map((text) => text.split(".").map(Number));
  for (const [at, part] of (one ?? []).entries()) {
    const difference = part - (other?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return true;
}

/** `claude 2.1.330`, or a program of unknown version. */
export function peerTitle(version: string | undefined): string {
  return version === undefined ? "its program, whose version is unknown," : `claude ${version}`;
}
