import type { Installed } from "./install.ts";
import type { Result } from "./rows/row.ts";
import type { Places } from "./team/crew.ts";

/** Work of the isolated part. */
export interface Plan extends Places {
  readonly installed: readonly Installed[];
  /** Ids of the programs to check, and of the mixed team. */
  readonly chosen: readonly string[];
  /** Path for the picture of the mixed team. */
  readonly picture: string;
  /** A factor for all limits. */
  readonly patience: number;
  /** Ids of rows; none means all. */
  readonly rows: readonly string[];
  /** Ids of rows that are not checked again, by the id of the program. */
  readonly checked: Readonly<Record<string, readonly string[]>>;
}

/** One line that the isolated part prints. */
export interface Report {
  readonly id: string;
  readonly result?: Result;
  /** Why a program could not be checked at all. */
  readonly broken?: string;
}
