"""Make the data of the demo: what three classifiers say about irises that they were not fitted to.

Fisher's irises (1936), by the length and width of the sepals alone, which leaves the classifiers something to get
wrong. Ten-fold cross-validation, so every row was predicted by a model that had not seen it.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

TARGET = Path(__file__).parents[1] / "src" / "steelyard" / "data" / "iris.csv"


def main() -> None:
    """Write the file."""
    iris = load_iris()
    measured, species = iris.data[:, :2], iris.target_names[iris.target]
    frame = pd.DataFrame({"species": species, "sepal_length": measured[:, 0], "sepal_width": measured[:, 1]})
    folds = StratifiedKFold(10, shuffle=True, random_state=1936)
    models = {
        "lda": LinearDiscriminantAnalysis(),
        "qda": QuadraticDiscriminantAnalysis(),
        "knn": KNeighborsClassifier(1),
    }
    for name, model in models.items():
        said = cross_val_predict(model, measured, species, cv=folds, method="predict_proba")
        for place, label in enumerate(np.unique(species)):
            # Rounded like the rest of the world rounds; the rows still add up to one.
            frame[f"{name}_{label}"] = np.round(said[:, place], 6)
    frame.to_csv(TARGET, index=False)


if __name__ == "__main__":
    main()
