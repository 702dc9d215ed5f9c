/** A measured figure with its goal and its references. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: Unit;
  /** The machine's limit, and the cost of the usual approach, measured in the same run. */
  readonly references?: readonly Reference[];
  readonly goal?: Goal;
}

export type Unit = "ms" | "µs" | "/s" | "MB" | "%" | "bytes" | "";

/** A reference value, in the unit of its figure. */
export interface Reference {
  readonly what: string;
  readonly value: number;
}

export interface Goal {
  /** The goal as the table shows it. */
  readonly text: string;
  readonly met: boolean;
  /** A missed count fails the run; a missed time does not, because machines differ. */
  readonly isCount: boolean;
}

/** A goal for a time or a rate, in the figure's unit. */
export function atMost(limit: number, unit: Unit, value: number): Goal {
  return { text: `≤ ${limit} ${unit}`, met: value <= limit, isCount: false };
}

/** A goal relative to a reference. */
export function atMostTimes(factor: number, value: number, reference: Reference): Goal {
  return { text: `≤ ${factor} ×`, met: value <= factor * reference.value, isCount: false };
}

/** A goal that is independent of the machine. */
export function countAtMost(limit: number, value: number, text = `≤ ${limit}`): Goal {
  return { text, met: value <= limit, isCount: true };
}

/** A group of figures that are measured together. */
export interface Bench {
  readonly name: string;
  /** The heading of its section in the table. */
  readonly title: string;
  /** Whether the short form includes it. */
  readonly short: boolean;
  run(setup: Setup): Promise<readonly Figure[]>;
}

/** A directory for measured files. Disk and memory differ: on a disk, the rename costs more than everything else. */
export interface Place {
  readonly name: string;
  readonly directory: string;
}

/** The environment of a bench. */
export interface Setup {
  /** The disk, and a file system in memory if there is one. */
  readonly places: readonly Place[];
  /** The directory of the built product. */
  readonly dist: string;
  /** True for the short run of half a minute. */
  readonly short: boolean;
  /** Returns the first number in a full run, the second in a short one. */
  amount(full: number, short: number): number;
}

/** A bench that could not measure, and the first line of its error. */
export interface BenchError {
  readonly bench: string;
  readonly error: string;
}

/** The figures of several benches, as `--json` writes them. */
export interface BenchResults {
  readonly figures: readonly (Figure & { readonly bench: string })[];
  /** The benches that failed twice. */
  readonly failed: readonly BenchError[];
  /** The benches that failed once. */
  readonly unsteady: readonly BenchError[];
}
