import { isSystemError, TeamError } from "../../errors.ts";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { type TeamConfig, teamConfig } from "../../schema/config.ts";
import { isNewerFormat, SCHEMA_VERSION } from "../../schema/migrate.ts";
import { readRecordFile } from "../../store/json-file.ts";
import type { TeamRef } from "../ref.ts";

/**
 * Keeps a copy of a config that was just written, for `teams doctor --fix`. Call it under the lock of the config. Another
 * program's team gets no copy.
 */
export function keepLastConfig({ paths }: TeamRef, config: TeamConfig): void {
  if (config.schemaVersion === undefined) return;
  try {
    // Without sync: it is needed only if the config, which is synced, is damaged later.
    replaceFile(paths.lastConfig, formatJson(config), { sync: false });
  } catch (error) {
    // The change itself is made. The next change writes the copy again; until then the older one stays.
    if (!isSystemError(error)) throw error;
  }
}

/** Returns the copy of the config that was written last; undefined if there is no readable copy in a format that this version knows. */
export function readLastConfig({ paths }: TeamRef): TeamConfig | undefined {
  try {
    const last = readRecordFile(paths.lastConfig, teamConfig);
    return isNewerFormat(last?.schemaVersion ?? SCHEMA_VERSION) ? undefined : last;
  } catch (error) {
    // Inaccessible: the caller has a problem with the config itself, and reports that.
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}
