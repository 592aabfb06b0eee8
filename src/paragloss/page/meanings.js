// Glosses of many texts, requested in batches; a text that fails does not affect the others.
import { send } from "./api.js";

// Characters in one request, well below the server's limit.
const MAX_BATCH = 8000;

// `jobs`: {text, lang, done(gloss), failed()}, for a reader's language and a query.
export async function meanings(jobs, { reader, query, collection, signal }) {
  const batches = [];
  let size = Infinity;
  for (const job of jobs) {
    if (size + job.text.length > MAX_BATCH) [size] = [0, batches.push([])];
    batches.at(-1).push(job);
    size += job.text.length;
  }
  const request = async (batch) => {
    try {
      const texts = batch.map(({ text, lang }) => ({ text, lang }));
      const { glosses } = await send("POST", "gloss", { texts, to: reader, asked: query }, { collection }, signal);
      batch.forEach((job, i) => job.done(glosses[i]));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (batch.length === 1) batch[0].failed();
      else for (const job of batch) await request([job]);
    }
  };
  await Promise.all(batches.map(request));
}
