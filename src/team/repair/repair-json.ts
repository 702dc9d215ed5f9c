import type * as z from "zod/mini";
import { TeamError } from "../../errors.ts";
import { formatJson } from "../../os/files/atomic-write.ts";
import { readText } from "../../os/files/fs.ts";
import { readJsonFile } from "../../store/json-file.ts";
import { copyAside } from "../../store/quarantine.ts";
import { updateTeamFile } from "../config/team-lock.ts";
import type { TeamRef } from "../ref.ts";

interface JsonRepair<T> {
  readonly path: string;
  readonly schema: z.core.$ZodType<T>;
  /** Returns the value salvaged from a broken text; undefined if it cannot be salvaged. */
  readonly salvage: (text: string) => T | undefined;
}

/** The result: the file is fine, cannot be salvaged (and is unchanged), or was repaired, with a copy of the original. */
export type JsonRepaired = "whole" | "lost" | { readonly original: string };

/**
 * Replaces a broken JSON file with the salvaged value, after copying the original aside.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export function repairJson<T>(ref: TeamRef, { path, schema, salvage }: JsonRepair<T>): Promise<JsonRepaired> {
  return updateTeamFile<JsonRepaired>(ref, path, (_text, isLocked) => {
    if (jsonProblem(path, schema) === undefined) return { value: "whole" };
    if (!isLocked) throw new Error("A repair needs the lock.");
    const saved = salvage(readText(path) ?? "");
    if (saved === undefined) return { value: "lost" };
    return { value: { original: copyAside(path) }, content: formatJson(saved) };
  });
}

/** Returns why a JSON file cannot be read; undefined if it can, or is missing. */
export function jsonProblem(path: string, schema: z.core.$ZodType<unknown>): string | undefined {
  try {
    readJsonFile(path, schema);
    return undefined;
  } catch (error) {
    if (error instanceof TeamError && error.code === "CORRUPT_FILE")
      return `${path} cannot be read: ${error.details?.problem}`;
    throw error;
  }
}
