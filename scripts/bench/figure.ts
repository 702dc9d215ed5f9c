/** One figure of a bench: what was measured here, and what it is held against. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: Unit;
  /** The limit, and how the same is usually done, measured in the same run. */
  readonly beside?: readonly Beside[];
  readonly goal?: Goal;
}

export type Unit = "ms" | "µs" | "/s" | "MB" | "%" | "bytes" | "";

/** In the unit of the figure that it stands beside. */
export interface Beside {
  readonly what: string;
  readonly value: number;
}

export interface Goal {
  /** As the table shows it. */
  readonly text: string;
  readonly met: boolean;
  /** A count that is missed fails the run; a time never does, since machines differ. */
  readonly isCount: boolean;
}

/** A goal for a time or a rate, in the figure's own unit. */
export function atMost(limit: number, unit: Unit, value: number): Goal {
  return { text: `≤ ${limit} ${unit}`, met: value <= limit, isCount: false };
}

/** A goal against what was measured beside it. */
export function atMostTimes(factor: number, value: number, beside: Beside): Goal {
  return { text: `≤ ${factor} ×`, met: value <= factor * beside.value, isCount: false };
}

/** A goal that does not depend on the machine. */
export function countAtMost(limit: number, value: number, text = `≤ ${limit}`): Goal {
  return { text, met: value <= limit, isCount: true };
}

/** A group of figures that are measured together. */
export interface Bench {
  readonly name: string;
  /** The headline of its part of the table. */
  readonly title: string;
  /** Whether the short form has it too. */
  readonly short: boolean;
  run(room: Room): Promise<readonly Figure[]>;
}

/** Where files are kept while they are measured: a disk's rename costs more than all the rest. */
export interface Place {
  readonly name: string;
  readonly directory: string;
}

/** What a bench is given. */
export interface Room {
  /** The disk, and a file system in memory where there is one. */
  readonly places: readonly Place[];
  /** The built product. */
  readonly dist: string;
  /** Whether this is the run of half a minute. */
  readonly short: boolean;
  /** The first in a full run, the second in a short one. */
  amount(full: number, short: number): number;
}
