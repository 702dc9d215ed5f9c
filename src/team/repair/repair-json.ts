import type * as z from "zod/mini";
import { TeamError } from "../../errors.ts";
import { readText } from "../../os/files/fs.ts";
import { formatJson } from "../../store/format-json.ts";
import { readJsonFile } from "../../store/json-file.ts";
import { copyAside } from "../../store/quarantine.ts";
import { changeInTeam } from "../config/team-lock.ts";
import type { TeamRef } from "../ref.ts";

interface JsonRepair<T> {
  readonly path: string;
  readonly schema: z.core.$ZodType<T>;
  /** What can be saved of a broken text; undefined when nothing can. */
  readonly salvage: (text: string) => T | undefined;
}

/** What became of a file: it is whole, nothing of it can be saved (it stays as it is), or its original is beside it now. */
export type JsonRepaired = "whole" | "lost" | { readonly original: string };

/**
 * Puts in the place of a broken file of JSON what can be saved of it, with the original kept beside.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export function repairJson<T>(ref: TeamRef, { path, schema, salvage }: JsonRepair<T>): Promise<JsonRepaired> {
  return changeInTeam<JsonRepaired>(ref, path, (_text, isLocked) => {
    if (jsonProblem(path, schema) === undefined) return { value: "whole" };
    if (!isLocked) throw new Error("A repair is made under the lock.");
    const saved = salvage(readText(path) ?? "");
    if (saved === undefined) return { value: "lost" };
    return { value: { original: copyAside(path) }, content: formatJson(saved) };
  });
}

/** Why a file of JSON cannot be read; undefined when it can, or is not there. */
export function jsonProblem(path: string, schema: z.core.$ZodType<unknown>): string | undefined {
  try {
    readJsonFile(path, schema);
    return undefined;
  } catch (error) {
    if (error instanceof TeamError && error.code === "CORRUPT_FILE")
      return `${path} cannot be read: ${error.details?.flaw}`;
    throw error;
  }
}
