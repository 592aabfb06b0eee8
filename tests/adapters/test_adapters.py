"""Each retriever against the real package it is for; one that can't be installed here is skipped."""

import pytest


def test_langchain_retrieves_and_composes(demo_collection):
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.runnables import RunnableLambda

    from paragloss.adapters.langchain import ParaglossRetriever

    retriever = ParaglossRetriever(collection=demo_collection, lang="en", to=["zh", "hi"], k=2)
    retrieved = retriever.invoke("how do bees make honey")
    assert {document.id for document in retrieved} == {"honey-bee.hi", "honey-bee.zh"}
    assert retrieved[0].metadata["lang"] in ("zh", "hi")
    assert retrieved[0].page_content == demo_collection.get([retrieved[0].id])[0].text
    titles = retriever | RunnableLambda(lambda documents: [document.metadata["title"] for document in documents])
    assert "蜜蜂" in titles.invoke("how do bees make honey")
    short = ParaglossRetriever(engine=demo_collection, lang="en", to=["zh"], k=1, full_text=False).invoke("honey")
    assert short[0].page_content == short[0].metadata["snippet"]


def test_llamaindex_retrieves(demo_collection):
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from paragloss.adapters.llamaindex import ParaglossRetriever

    nodes = ParaglossRetriever(demo_collection, lang="en", to=["fr"], k=3).retrieve("the lava of a volcano")
    assert nodes[0].node.node_id == "volcano.fr"
    assert nodes[0].node.metadata["lang"] == "fr"
    assert 1 >= nodes[0].score >= nodes[1].score > 0
    assert nodes[0].node.get_content() == demo_collection.get(["volcano.fr"])[0].text


def test_pyterrier_transforms_and_composes(demo_collection):
    pytest.importorskip("pyterrier", reason="pyterrier is not installed")
    import pandas as pd
    import pyterrier as pt

    from paragloss.adapters.pyterrier import ParaglossRetriever

    queries = pd.DataFrame([{"qid": "1", "query": "volcano lava"}, {"qid": "2", "query": "honey bee"}])
    retriever = ParaglossRetriever(demo_collection, lang="en", to=["da"], num_results=20)
    results = (retriever % 3).transform(queries)
    assert list(results.columns) == ["qid", "query", "docno", "score", "rank"]
    assert results[results["rank"] == 0]["docno"].tolist() == ["volcano.da", "honey-bee.da"]
    assert results.groupby("qid").size().max() <= 3
    first = retriever >> pt.apply.generic(lambda frame: frame[frame["rank"] == 0])
    assert first.transform(queries)["docno"].tolist() == ["volcano.da", "honey-bee.da"]
    assert len(retriever.transform(queries.head(0))) == 0
