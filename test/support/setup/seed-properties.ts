import fc from "fast-check";
import { SEED } from "../random/seed.ts";

fc.configureGlobal({ seed: SEED });
