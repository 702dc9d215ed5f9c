import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { otherParts, readUntrusted, settingsPlace } from "../../../src/settings/project-parts.ts";
import { filterSettings, partHash } from "../../../src/settings/setting-parts.ts";
import { existingProjectFiles } from "../../../src/settings/settings-files.ts";

/** The number of decisions so far: each gets a later time. */
let decisions = 0;

/** Records that the user trusts a directory outside a repository, with the current content of its files. */
export function recordTrust(root: string, cwd: string): void {
  const settings = existingProjectFiles(root, cwd).flatMap((path) =>
    filterSettings(readUntrusted(path), () => false).removed.map((part) => ({
      ...part,
      file: settingsPlace(path),
    })),
  );
  const confirmed: Record<string, (string | undefined)[]> = {};
  for (const part of [...settings, ...otherParts(root, cwd)])
    confirmed[part.file] = [...(confirmed[part.file] ?? []), partHash(part)];
  mkdirSync(root, { recursive: true });
  const directories = { [realpathSync(cwd)]: { trusted: true, at: ++decisions, confirmed } };
  writeFileSync(join(root, "teams-trust.json"), JSON.stringify({ directories }));
}
