"""Tables 6.11 and 6.12 of Liu's thesis in shape: how much does the quality of a translated test query matter?

Data: `bilingual_log`, 2,000 training queries. The thesis' author judged 265 translations by hand. Here the English
short description, written by a person, stands for the corrected query, and the category is the share of its terms
that the translation has: all (good), half or more (imperfect), fewer (bad), none (not correctly translated); none of
whose words changed in translation is untranslatable. Run: python recipes/thesis_6_12.py
"""

from __future__ import annotations

from bilingual_log import MEASURES, bilingual, log, measured, rerank, table_of, train, translator

from paragloss.analysis import analyzer
from paragloss.evaluation.kernels import Unknown, unknown_words
from paragloss.translation.querylog import translate_queries

THESIS = {
    "Good (39%), monolingual": [0.2174, 0.2945, 0.3688, 0.2350, 0.2531, 0.3346, 0.2374, 103, "4/221"],
    "  bilingual": [0.1486, 0.2451, 0.3428, 0.2311, 0.2624, 0.3578, 0.2589, 103, "4/222"],
    "Imperfect (19%), monolingual": [0.2274, 0.2968, 0.3844, 0.2030, 0.2564, 0.3316, 0.2426, 50, "0/155"],
    "  bilingual ": [0.1635, 0.2945, 0.3777, 0.2464, 0.2735, 0.3331, 0.2517, 50, "4/159"],
    "Bad (17%), monolingual": [0.1479, 0.2524, 0.3487, 0.2499, 0.2521, 0.3446, 0.2462, 46, "0/133"],
    "  bilingual  ": [0.0664, 0.2283, 0.3166, 0.1538, 0.2220, 0.3019, 0.1980, 46, "0/135"],
    "  corrected": [0.1723, 0.2817, 0.3463, 0.1137, 0.1957, 0.2646, 0.2046, 46, "16/131"],
    "Not correct (14%), monolingual": [0.1714, 0.2885, 0.3962, 0.1912, 0.1859, 0.3348, 0.2154, 38, "0/124"],
    "  bilingual   ": [0.0857, 0.2571, 0.3749, 0.1864, 0.2986, 0.3934, 0.2424, 38, "2/132"],
    "  corrected ": [0.0143, 0.2572, 0.3122, 0.1388, 0.1742, 0.2983, 0.1556, 38, "21/150"],
    "Untranslatable (11%), monolingual": [0.2000, 0.2252, 0.3346, 0.1653, 0.2305, 0.3227, 0.1991, 28, "0/97"],
    "  bilingual    ": [0.3051, 0.3132, 0.4042, 0.1128, 0.2246, 0.3296, 0.1960, 28, "1/97"],
}
CATEGORIES = ("Good", "Imperfect", "Bad", "Not correct", "Untranslatable")


def category(source: str, translated: str, corrected: str) -> str:
    terms = analyzer("en").terms
    made, wanted = set(terms(translated)), set(terms(corrected))
    if made == set(terms(source)):
        return "Untranslatable"
    share = len(made & wanted) / max(len(wanted), 1)
    return "Good" if share == 1 else "Imperfect" if share >= 0.5 else "Bad" if share > 0 else "Not correct"


def shown(unknown: Unknown) -> str:
    return f"{unknown.unknown}/{unknown.words}"


if __name__ == "__main__":
    made = log()
    one, two = train(made.train), train(bilingual(made))
    translated = {q.id: q for q in translate_queries([made.german[id] for id in made.test], translator(), "en")}
    kinds = {
        id: category(made.german[id].text, translated[id].text, made.english[id].text)
        for id in made.test
        if made.shown[id]
    }
    asked = {"monolingual": (one, made.german), "bilingual": (two, translated), "corrected": (two, made.english)}
    runs = {name: rerank(made, model, queries) for name, (model, queries) in asked.items()}
    rows = {}
    for kind in CATEGORIES:
        among = [id for id, found in kinds.items() if found == kind]
        if len(among) < 3:
            print(f"{kind}: {len(among)} queries, too few to measure")
            continue
        for name, (model, queries) in asked.items():
            unknown = unknown_words(model, [queries[id] for id in among])
            label = f"{kind} ({len(among) / len(kinds):.0%}), {name}"
            rows[label] = [*measured(made, runs[name], among), len(among), shown(unknown)]
    header = (*MEASURES, "queries", "unknown")
    print(table_of("Tables 6.11 and 6.12: quality of translated test queries", header, rows, THESIS))
