import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeFifos, openFifoBell } from "../../../src/wakeup/fifo-bell.ts";
import type { Bench, Figure, Place, Setup } from "../figure.ts";
import { startProgram, timeOfNode } from "../support/children.ts";
import { type Samples, sample } from "../support/samples.ts";
import { scratch } from "../support/scratch.ts";

/** The limits of the machine: no program that uses processes, pipes and files can be faster. */
export const limits: Bench = {
  name: "limits",
  title: "Limits of this machine",
  short: true,
  async run(setup: Setup): Promise<readonly Figure[]> {
    const [place] = setup.places;
    if (place === undefined) return [];
    const roundTrip = await fifoRoundTrip(place, setup.amount(2000, 300));
    const node = await sample(setup.amount(15, 5), () => timeOfNode(["-e", ""]));
    return [
      {
        what: "round trip through two FIFOs between two Node processes, p50",
        value: roundTrip.median,
        unit: "ms",
      },
      { what: "the same, p99", value: roundTrip.at(0.99), unit: "ms" },
      { what: 'node -e "", from start to end', value: node.median, unit: "ms" },
    ];
  },
};

/** Sends one byte there and back, only through the FIFOs. */
export async function fifoRoundTrip(place: Place, times: number): Promise<Samples> {
  const directory = scratch(place);
  const [out, back] = [join(directory, "out"), join(directory, "back")];
  await makeFifos([out, back]);
  const bell = openFifoBell(back);
  const echo = startProgram("echo", out, back);
  await echo.line();
  const fd = openSync(out, "r+");
  const samples = await sample(times, async () => {
    writeSync(fd, "\n");
    await bell.wait();
  });
  bell.close();
  await echo.end();
  return samples;
}
